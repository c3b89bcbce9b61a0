// Colours and canvases. The colours are the theme's, so that light, dark and paper all have their own.

/** The colours of the theme that holds now, by their names. */
let ink = {};

/** Grants have a colour each, over and over: so many there are. */
const EPOCH_COLOURS = 6;

function takeInk() {
  const styles = getComputedStyle(document.documentElement);
  const names = [
    "paper", "surface", "line", "text", "muted", "faint", "bad", "bad-wash", "good", "fault", "fault-wash", "accent",
    "pause", "clock", "break", "on-band", "message",
  ];
  ink = Object.fromEntries(names.map((name) => [name, styles.getPropertyValue(`--${name}`).trim()]));
  ink.epochs = Array.from({ length: EPOCH_COLOURS }, (_, i) => styles.getPropertyValue(`--epoch-${i + 1}`).trim());
  ink.hatch = null;
}

const epochInk = (epoch) => (epoch === 0 ? ink.muted : ink.epochs[(epoch - 1) % EPOCH_COLOURS]);

const FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";
const font = (size, weight = 400) => `${weight} ${size}px ${FONT}`;

/** Only to measure texts with. */
const measuring = el("canvas").getContext("2d");

/** How many pixels of a canvas there are to one of the page; more on paper. */
let sharpness = 0;

/** The canvas made as large as it is shown, and empty; gives its context. */
function cleared(canvas, width, height) {
  const ratio = sharpness || window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = "middle";
  return context;
}

/** Diagonal lines, for who stands still. */
function hatch(context) {
  if (ink.hatch) return ink.hatch;
  const tile = el("canvas", { width: 8, height: 8 });
  const lines = tile.getContext("2d");
  lines.strokeStyle = ink.pause;
  lines.lineWidth = 1.4;
  lines.beginPath();
  for (const x of [-8, 0, 8]) {
    lines.moveTo(x, 8);
    lines.lineTo(x + 8, 0);
  }
  lines.stroke();
  ink.hatch = context.createPattern(tile, "repeat");
  return ink.hatch;
}

/** A scale from true time to pixels of a picture of this width. */
class Scale {
  constructor(width) {
    this.width = width;
    this.axis = axis();
    this.perPlace = width / (state.until - state.from);
    this.begin = this.axis.at(state.from);
    this.end = this.axis.at(state.until);
  }

  x(at) {
    return (this.axis.place(at) - state.from) * this.perPlace;
  }

  at(x) {
    return this.axis.at(state.from + x / this.perPlace);
  }

  /** A stretch as far as it is in the picture, or null if it isn't. */
  stretch(from, until) {
    const [left, right] = [Math.max(this.x(from), -20), Math.min(this.x(until), this.width + 20)];
    return right < -10 || left > this.width + 10 || right < left ? null : [left, right];
  }
}
