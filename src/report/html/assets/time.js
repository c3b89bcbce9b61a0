// Times as people write them, and what clocks read.

const BILLION = 1000000000n;
const DAY = 86400n * BILLION;

const divFloor = (a, b) => (a >= 0n ? a / b : -((-a + b - 1n) / b));
const dayOf = (wall) => divFloor(wall, DAY);
const startDay = dayOf(start);

/** A wall-clock reading as a time of day with so many digits behind the second, rounded down. */
function timeOfDay(wall, digits = 3) {
  const inDay = wall - dayOf(wall) * DAY;
  const seconds = Number(inDay / BILLION);
  const two = (n) => String(n).padStart(2, "0");
  const whole = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  if (digits === 0) return whole;
  return `${whole}.${String(inDay % BILLION).padStart(9, "0").slice(0, digits)}`;
}

const dateOf = (wall) => new Date(Number(dayOf(wall)) * 86400000).toISOString().slice(0, 10);

/** The same behind its date, if that isn't the day of the start. */
function clockText(wall, digits = 3) {
  const time = timeOfDay(wall, digits);
  return dayOf(wall) === startDay ? time : `${dateOf(wall)} ${time}`;
}

/** The correct time of day at the true time `at`, which is a BigInt or a number. */
const utcText = (at, digits = 3) => clockText(start + BigInt(at), digits);

/** A reading at the true time `at`, behind its date if that is another one. */
function readingText(reading, at, digits = 3) {
  const time = timeOfDay(reading, digits);
  return dayOf(reading) === dayOf(start + at) ? time : `${dateOf(reading)} ${time}`;
}

/** The instant as links have it. */
const isoOf = (at) => `${dateOf(start + at)}T${timeOfDay(start + at, 9)}Z`;

/** The instant that a link means, or null: an ISO time, a time of day, or `+seconds` since the start. */
function instantOf(text) {
  const since = /^\+(\d+)(?:\.(\d{1,9}))?s?$/.exec(text);
  if (since) return BigInt(since[1]) * BILLION + BigInt((since[2] ?? "").padEnd(9, "0"));
  const parts = /^(?:(\d{4}-\d\d-\d\d)T)?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z?$/.exec(text);
  if (!parts) return null;
  if (parts[2] > "23" || parts[3] > "59" || parts[4] > "59") return null;
  const inDay = BigInt(parts[2]) * 3600n + BigInt(parts[3]) * 60n + BigInt(parts[4]);
  const nanos = inDay * BILLION + BigInt((parts[5] ?? "").padEnd(9, "0"));
  if (parts[1]) {
    const day = Date.parse(`${parts[1]}T00:00:00Z`);
    return Number.isNaN(day) ? null : BigInt(day) * 1000000n + nanos - start;
  }
  const at = startDay * DAY + nanos - start;
  return at < 0n ? at + DAY : at;
}

/** A length of time in nanoseconds, to about three digits. */
function spanText(nanos) {
  const size = Math.abs(nanos);
  const sign = nanos < 0 ? "−" : "";
  const round = (value) => String(Number(value.toPrecision(3)));
  if (size >= 3600e9) return `${sign}${Math.floor(size / 3600e9)}h ${Math.round((size % 3600e9) / 60e9)}min`;
  if (size >= 100e9) return `${sign}${Math.floor(size / 60e9)}min ${Math.round((size % 60e9) / 1e9)}s`;
  if (size >= 1e9) return `${sign}${round(size / 1e9)}s`;
  if (size >= 1e6) return `${sign}${round(size / 1e6)}ms`;
  if (size >= 1e3) return `${sign}${round(size / 1e3)}µs`;
  return `${sign}${size}ns`;
}

/** A clock's error, which is shown to the microsecond. */
function errorText(nanos) {
  const micros = Math.round(Number(nanos) / 1000);
  if (micros === 0) return "right";
  const size = Math.abs(micros);
  const text = size >= 1e6 ? `${size / 1e6} s` : size >= 1000 ? `${size / 1000} ms` : `${size} µs`;
  return micros < 0 ? `${text} behind` : `${text} ahead`;
}

/** A node's wall clock: lines one after the other, as the history has them. */
class Clock {
  constructor(wall) {
    this.from = BigInt64Array.from(wall, ([from]) => BigInt(from));
    this.reads = BigInt64Array.from(wall, ([, reads]) => BigInt(reads));
    this.rate = BigInt64Array.from(wall, ([, , rate]) => BigInt(rate));
    this.since = wall.map(([, , , since]) => since);
    this.begins = Float64Array.from(this.from, Number);
    /** How far it is ahead at the beginning of each line. */
    this.ahead = Float64Array.from(this.from, (from, line) => Number(this.reads[line] - (start + from)));
  }

  /** The line that holds at the true time `at`: for an event, if one is given, else when all is over that happens then. */
  line(at, event = Infinity) {
    let line = Math.max(0, lowerBound(this.from, at + 1n) - 1);
    while (line > 0 && this.from[line] === at && this.since[line] > event) line -= 1;
    return line;
  }

  /** What it reads at the true time `at`, at an event if one is given. */
  wall(at, event = Infinity) {
    const line = this.line(at, event);
    const passed = at > this.from[line] ? at - this.from[line] : 0n;
    return this.reads[line] + (passed * this.rate[line]) / BILLION;
  }

  /** How far it is ahead of true time. */
  error(at, event = Infinity) {
    return this.wall(at, event) - (start + at);
  }

  /** How far it is ahead at the end of `line`, which goes on to `until`. */
  aheadAtEnd(line, until) {
    return this.ahead[line] + ((until - this.begins[line]) * (Number(this.rate[line]) - 1e9)) / 1e9;
  }
}

for (const run of runs) run.clocks = run.nodes.map((node) => new Clock(node.wall));
