// What single events look like. What it is has a shape, under which grant a colour, and what is wrong a ring.

const DOTS = {
  "write-accepted": (c, x, y) => disc(c, x, y, 4.2),
  "payout-made": (c, x, y) => box(c, x, y, 3.8),
  "export-published": (c, x, y) => box(c, x, y, 5),
  "checkpoint-moved": (c, x, y) => diamond(c, x, y, 3.6),
  "generation-opened": (c, x, y) => c.fillRect(x - 1.6, y - 9, 3.2, 18),
  "dispatch-stopped": (c, x, y) => c.fillRect(x - 1.6, y - 9, 3.2, 18),
  "dispatch-resumed": (c, x, y) => triangle(c, x, y, 5),
  "gateway-fenced": (c, x, y) => c.fillRect(x - 1.6, y - 9, 3.2, 18),
  "payout-voided": (c, x, y) => frame(c, x, y, 4),
  "refund-begun": (c, x, y) => frame(c, x, y, 4),
  "entry-superseded": (c, x, y) => hoop(c, x, y, 3.8),
  "export-superseded": (c, x, y) => frame(c, x, y, 5),
  "checkpoint-rebuilt": (c, x, y) => diamond(c, x, y, 5),
  // It is told with the payout.
  "payout-taken-in": () => {},
  "lease-granted": (c, x, y) => triangle(c, x, y, 5),
  "worker-started": (c, x, y) => triangle(c, x, y, 4.6),
  "worker-finished": (c, x, y) => box(c, x, y, 3.4),
};

function disc(c, x, y, r) {
  c.beginPath();
  c.arc(x, y, r, 0, 2 * Math.PI);
  c.fill();
}

function ring(c, x, y, r) {
  c.beginPath();
  c.arc(x, y, r, 0, 2 * Math.PI);
  c.stroke();
}

function box(c, x, y, r) {
  c.fillRect(x - r, y - r, 2 * r, 2 * r);
}

/** A box with nothing in it: something was taken back. */
function frame(c, x, y, r) {
  c.lineWidth = 1.6;
  c.strokeStyle = c.fillStyle;
  c.fillStyle = ink.surface;
  box(c, x, y, r);
  c.strokeRect(x - r, y - r, 2 * r, 2 * r);
}

/** A disc with nothing in it: something is there and doesn't count. */
function hoop(c, x, y, r) {
  c.lineWidth = 1.6;
  c.strokeStyle = c.fillStyle;
  c.fillStyle = ink.surface;
  disc(c, x, y, r);
  ring(c, x, y, r);
}

function diamond(c, x, y, r) {
  c.beginPath();
  c.moveTo(x, y - r);
  c.lineTo(x + r, y);
  c.lineTo(x, y + r);
  c.lineTo(x - r, y);
  c.fill();
}

function triangle(c, x, y, r) {
  c.beginPath();
  c.moveTo(x - r * 0.7, y - r);
  c.lineTo(x + r, y);
  c.lineTo(x - r * 0.7, y + r);
  c.fill();
}

function cross(c, x, y, r) {
  c.beginPath();
  c.moveTo(x - r, y - r);
  c.lineTo(x + r, y + r);
  c.moveTo(x + r, y - r);
  c.lineTo(x - r, y + r);
  c.stroke();
}

/** Draws the event `i` of `run` at a place. */
function drawEvent(c, run, i, x, y) {
  const kind = run.kindName(i);
  const mark = run.mark[i];
  if (mark === REJECTED) return drawRejected(c, x, y);
  const group = run.group(i);
  c.fillStyle = epochInk(run.epoch[i]);
  if (mark === FAULT || mark === HEALED) {
    c.fillStyle = ink.fault;
    if (group === "faults") {
      c.beginPath();
      const way = mark === FAULT ? 1 : -1;
      c.moveTo(x - 5, y - 5 * way);
      c.lineTo(x + 5, y - 5 * way);
      c.lineTo(x, y + 5 * way);
      c.fill();
    } else {
      c.strokeStyle = ink.fault;
      c.lineWidth = 1.8;
      cross(c, x, y, 3.2);
    }
    return;
  }
  const shape = DOTS[kind];
  if (mark === STALE) {
    c.fillStyle = ink.surface;
    disc(c, x, y, 7.4);
    c.fillStyle = epochInk(run.epoch[i]);
  }
  if (shape) shape(c, x, y);
  else if (group === "points") c.fillRect(x - 0.5, y - 3, 1, 6);
  else disc(c, x, y, group === "messages" ? 1.6 : 2.4);
  if (mark === STALE) {
    c.strokeStyle = ink.bad;
    c.lineWidth = 2;
    ring(c, x, y, 7.4);
  }
}

function drawRejected(c, x, y) {
  c.fillStyle = ink.surface;
  disc(c, x, y, 6.4);
  c.strokeStyle = ink.good;
  c.lineWidth = 1.6;
  ring(c, x, y, 6.4);
  c.lineWidth = 2;
  cross(c, x, y, 2.6);
}

/** A ring around what breaks a rule for the first time. */
function drawViolation(c, x, y) {
  c.strokeStyle = ink.bad;
  c.lineWidth = 2.4;
  ring(c, x, y, 11.5);
}
