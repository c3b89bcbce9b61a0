// The time axis: true time as it is, or with long stretches made short. Positions on it are called places.

/** How little of a long gap is left: it grows with the logarithm of what the gap is longer. */
const LEFT_OF_GAPS = 0.35;
/** A gap is marked as shortened if it would be so many times as long. */
const MARKED_FROM = 4;

class Axis {
  /** `times` are the instants, in order and none twice, between which nothing is told. */
  constructor(times, shortens) {
    this.times = Float64Array.from(times);
    this.places = new Float64Array(times.length);
    this.breaks = [];
    const gaps = times.slice(1).map((time, i) => time - times[i]);
    const sorted = [...gaps].sort((a, b) => a - b);
    const usual = sorted[sorted.length >> 1] ?? 1;
    const short = Math.max(usual * 6, 1e6);
    gaps.forEach((gap, i) => {
      const left = !shortens || gap <= short ? gap : short * (1 + LEFT_OF_GAPS * Math.log(gap / short));
      this.places[i + 1] = this.places[i] + left;
      if (gap > MARKED_FROM * left) this.breaks.push({ from: times[i], until: times[i + 1] });
    });
  }

  get length() {
    return this.places[this.places.length - 1];
  }

  place(at) {
    return between(this.times, this.places, at);
  }

  at(place) {
    return between(this.places, this.times, place);
  }
}

/** Where `value` of the scale `from` is on the scale `to`. */
function between(from, to, value) {
  const last = from.length - 1;
  const i = Math.min(Math.max(lowerBound(from, value), 1), last);
  const length = from[i] - from[i - 1];
  return length === 0 ? to[i] : to[i - 1] + ((value - from[i - 1]) / length) * (to[i] - to[i - 1]);
}

/** All instants of which something is told, under any protocol: the axis is the same for all. */
function toldTimes() {
  const times = new Set([0, endOfAll]);
  for (const run of runs) {
    for (const event of run.rowEvent) times.add(run.at[event]);
    for (const { from, until } of [...run.bands.faults, ...run.bands.grants]) times.add(from).add(until);
    for (const [, , from, until] of run.bands.beliefs) times.add(from).add(until);
  }
  return [...times].filter((time) => time >= 0 && time <= endOfAll).sort((a, b) => a - b);
}

const told = toldTimes();
const axes = { short: new Axis(told, true), true: new Axis([0, endOfAll], false) };

/** More rows of a run than these aren't shown to begin with. */
const MOST_ROWS_AT_FIRST = 120;

/** Where the eye should begin: from the first fault or wrong to the last, or as far as there is room. Null if all was quiet. */
function focus() {
  let [from, until] = [Infinity, 0];
  const take = (time) => ([from, until] = [Math.min(from, time), Math.max(until, time)]);
  for (const run of runs) {
    run.rowMark.forEach((mark, row) => mark !== PLAIN && take(run.at[run.rowEvent[row]]));
    for (const [begin, end] of run.bands.overlaps) take(begin) && take(end);
    for (const { events } of run.broken) for (const event of events) take(run.at[event]);
  }
  if (from > until) return null;
  for (const run of runs) {
    const first = lowerBound(run.rowEvent, run.from(from));
    const last = run.rowEvent[first + MOST_ROWS_AT_FIRST];
    if (last !== undefined) until = Math.min(until, Math.max(run.at[last], from + 1));
  }
  return { from, until };
}
