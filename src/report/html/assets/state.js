// What is looked at now: an instant, an event, a run, a part of the axis. Everything on the page is drawn from this.

const state = {
  /** The cursor, in true time. */
  at: 0n,
  /** The run that is looked at, and the event in it that is, if one is. */
  run: 0,
  event: null,
  /** `short` or `true`. */
  axis: "short",
  /** The places between which is drawn. */
  from: 0,
  until: 1,
  /** Groups of events that are hidden, and nodes whose lanes are. */
  hiddenGroups: new Set(["points"]),
  hiddenNodes: new Set(),
  search: "",
};

const listeners = { cursor: [], view: [], run: [], filter: [] };
const on = (names, listener) => names.split(" ").forEach((name) => listeners[name].push(listener));
const tell = (name) => listeners[name].forEach((listener) => listener());

const axis = () => axes[state.axis];
const currentRun = () => runs[state.run];

/** The narrowest part of the axis, so that a nanosecond is still some pixels. */
const NARROWEST = 200;

/** Shows the places from `from` to `until`, as near as the axis has them. */
function show(from, until) {
  const length = axis().length;
  const margin = length * 0.02;
  const width = Math.min(Math.max(until - from, NARROWEST), length + 2 * margin);
  let begin = from + (until - from - width) / 2;
  begin = Math.min(Math.max(begin, -margin), length + margin - width);
  if (begin === state.from && begin + width === state.until) return;
  state.from = begin;
  state.until = begin + width;
  tell("view");
}

function showAll() {
  show(0, axis().length * 1.04);
}

function showTimes(from, until) {
  const [begin, end] = [axis().place(from), axis().place(until)];
  const room = Math.max((end - begin) * 0.06, NARROWEST);
  show(begin - room, end + room);
}

function showFocus() {
  const found = focus();
  if (found) showTimes(found.from, found.until);
  else showAll();
}

/** Makes what is shown `factor` times as long, around the place `around`. */
function zoom(factor, around = axis().place(Number(state.at))) {
  const inside = around >= state.from && around <= state.until ? around : (state.from + state.until) / 2;
  show(inside - (inside - state.from) * factor, inside + (state.until - inside) * factor);
}

function pan(share) {
  const by = (state.until - state.from) * share;
  show(state.from + by, state.until + by);
}

/** Moves the cursor into view if it isn't. */
function seek() {
  const place = axis().place(Number(state.at));
  const width = state.until - state.from;
  if (place < state.from + width * 0.02 || place > state.until - width * 0.02) {
    show(place - width / 2, place + width / 2);
  }
}

function moveTo(at) {
  state.event = null;
  state.at = at < 0n ? 0n : at;
  tell("cursor");
}

/** Moves the cursor to an event of a run. */
function moveToEvent(run, event) {
  selectRun(run);
  state.event = event;
  state.at = runs[run].exact[event];
  seek();
  tell("cursor");
}

function selectRun(run) {
  if (state.run === run) return;
  state.run = run;
  state.event = null;
  tell("run");
  tell("cursor");
}

function setAxis(name) {
  const [from, until] = [axis().at(state.from), axis().at(state.until)];
  state.axis = name;
  state.from = state.until = NaN;
  show(axis().place(from), axis().place(until));
}

/** Whether the event `i` of `run` is shown. */
function isShown(run, i) {
  if (state.hiddenGroups.has(run.group(i))) return false;
  const names = state.hiddenNodes;
  if (names.size === 0) return true;
  const worker = run.worker[i];
  return !names.has(run.nodes[run.node[i]].name) || (worker >= 0 && !names.has(run.nodes[worker].name));
}
