// The whole run in a strip, with what of it is in the pictures; and the axis above the pictures.

class Overview {
  constructor() {
    this.canvas = el("canvas", { class: "ink", "aria-hidden": true });
    this.window = el("div", { class: "window" });
    this.element = el("div", { class: "overview", "aria-hidden": true }, this.canvas, this.window);
    let grabbed = null;
    const placeOf = (event) => {
      const box = this.element.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * axis().length;
    };
    this.element.addEventListener("pointerdown", (event) => {
      const place = placeOf(event);
      const width = state.until - state.from;
      const inside = place >= state.from && place <= state.until;
      grabbed = inside ? place - state.from : width / 2;
      this.element.setPointerCapture(event.pointerId);
      if (!inside) show(place - width / 2, place + width / 2);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (grabbed === null) return;
      const from = placeOf(event) - grabbed;
      show(from, from + (state.until - state.from));
    });
    for (const over of ["pointerup", "pointercancel"]) this.element.addEventListener(over, () => (grabbed = null));
  }

  /** Draws the strip: a line of beliefs and wrongs for each run. */
  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const c = cleared(this.canvas, width, height);
    const x = (at) => (axis().place(at) / axis().length) * width;
    const row = height / runs.length;
    c.fillStyle = ink.break;
    for (const { from, until } of axis().breaks) c.fillRect(x(from), 0, x(until) - x(from), height);
    runs.forEach((run, index) => {
      const top = index * row;
      c.globalAlpha = 0.75;
      const workers = new Map();
      for (const [worker, epoch, from, until] of run.bands.beliefs) {
        if (!workers.has(worker)) workers.set(worker, workers.size % 3);
        c.fillStyle = epochInk(epoch);
        const y = top + 2 + workers.get(worker) * ((row - 5) / 3);
        c.fillRect(x(from), y, Math.max(x(until) - x(from), 1), (row - 5) / 3 - 1);
      }
      c.globalAlpha = 1;
      c.fillStyle = ink["bad-wash"];
      for (const [from, until] of run.bands.overlaps) {
        c.fillRect(x(from), top, Math.max(x(until) - x(from), 1), row);
      }
      let painted = -Infinity;
      for (const i of panels[index].stale) {
        const place = x(run.at[i]);
        if (place < painted) continue;
        c.fillStyle = ink.bad;
        c.fillRect(place, top + row - 5, 1.5, 4);
        painted = place + 1;
      }
    });
    this.drawWindow();
  }

  drawWindow() {
    const share = (place) => Math.min(Math.max(place / axis().length, 0), 1) * 100;
    this.window.style.left = `${share(state.from)}%`;
    this.window.style.width = `${Math.max(share(state.until) - share(state.from), 0.3)}%`;
  }
}

/** Steps in which an axis may be marked, in nanoseconds. */
const TICKS = [1, 2, 5].flatMap((n) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].map((unit) => n * unit)).concat(
  [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800].map((s) => s * 1e9),
).sort((a, b) => a - b);

/** The axis: times of day where there is room, and how much is left out of shortened gaps. */
function drawAxis(canvas, width, height) {
  const c = cleared(canvas, width, height);
  const scale = new Scale(width);
  c.font = font(11, 500);
  const breaks = scale.axis.breaks
    .map((gap) => ({ gap, drawn: scale.stretch(gap.from, gap.until) }))
    .filter(({ drawn }) => drawn);
  for (const { gap, drawn } of breaks) {
    const text = spanText(gap.until - gap.from);
    const middle = (drawn[0] + drawn[1]) / 2;
    const needed = c.measureText(text).width;
    c.fillStyle = ink.break;
    c.fillRect(drawn[0], 0, drawn[1] - drawn[0], height);
    c.strokeStyle = ink.muted;
    c.lineWidth = 1.2;
    c.beginPath();
    for (let y = height - 6, i = 0; i < 7; i++) {
      const x = middle - 9 + i * 3;
      if (i === 0) c.moveTo(x, y);
      else c.lineTo(x, y + (i % 2 ? -4 : 0));
    }
    c.stroke();
    if (needed < drawn[1] - drawn[0] - 4) {
      c.fillStyle = ink.muted;
      c.fillText(text, middle - needed / 2, height / 2 - 3);
    }
  }
  let free = 0;
  const bounds = [0, ...breaks.flatMap(({ drawn }) => drawn), width];
  for (let part = 0; part + 1 < bounds.length; part += 2) {
    const [left, right] = [bounds[part], bounds[part + 1]];
    if (right - left < 24) continue;
    free = Math.max(free, left);
    const perPixel = (scale.at(right) - scale.at(left)) / (right - left);
    const digits = perPixel * 90 < 1e3 ? 9 : perPixel * 90 < 1e6 ? 6 : perPixel * 90 < 1e9 ? 3 : 0;
    const wide = c.measureText(utcText(0, digits)).width + 18;
    const step = TICKS.find((tick) => tick >= perPixel * wide) ?? TICKS.at(-1);
    const offset = Number(start % 86400000000000n) % step;
    for (let at = Math.ceil((scale.at(left) + offset) / step) * step - offset; at <= scale.at(right); at += step) {
      const x = scale.x(at);
      if (x < left - 1 || x > right + 1 || at < 0) continue;
      c.fillStyle = ink.line;
      c.fillRect(x - 0.5, height - 6, 1, 6);
      const text = utcText(Math.round(at), digits);
      const needed = c.measureText(text).width;
      if (x - needed / 2 < free || x + needed / 2 > Math.min(right + 8, width)) continue;
      c.fillStyle = ink.muted;
      c.fillText(text, x - needed / 2, height / 2 - 3);
      free = x + needed / 2 + 10;
    }
  }
}
