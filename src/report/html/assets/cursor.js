// What is at the cursor: the event, and what the clock of each node reads at that instant.

/** What a node is doing at an instant, in words. */
function doing(run, node, at) {
  const within = (stretches) => stretches.some(([who, from, until]) => who === node && from <= at && at < until);
  if (within(run.bands.away)) return "not there";
  if (within(run.bands.paused)) return "paused";
  const belief = run.bands.beliefs.find(([who, , from, until]) => who === node && from <= at && at < until);
  const half = within(run.bands.halved) ? "one task paused; " : "";
  if (belief) return `${half}thinks it holds lease ${belief[1]}`;
  if (run.nodes[node].role === "worker") return `${half}holds nothing, as far as it knows`;
  const grants = run.bands.grants.filter((one) => one.node === node && one.from <= at && at < one.until);
  return grants.map((one) => `lease ${one.epoch} is ${run.nodes[one.worker].name}'s`).join("; ");
}

/** Nodes that are told of at the cursor: those with lanes of their own. */
const toldNodes = (run) => panels[run.index].layout.lanes.filter(({ nodes }) => nodes.length === 1).map(({ nodes }) => nodes[0]);

function drawCursorDetails() {
  const run = currentRun();
  const at = Number(state.at);
  byId("instant").textContent = utcText(state.at, 6);
  byId("instant-run").textContent = `under ${run.protocol}`;
  const event = state.event;
  if (event === null) {
    const before = run.from(at + 1) - 1;
    fill(
      byId("event"),
      el("p", { class: "dim", text: before < 0 ? "before the first event" : `after event #${before}: nothing happens here` }),
    );
  } else {
    fill(byId("event"), ...eventDetails(run, event));
  }
  const reads = (node) => {
    const clock = run.clocks[node];
    const error = clock.error(state.at);
    const isRight = error < 1000n && error > -1000n;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, theirs(run.nodes[node].name)),
      el("td", { class: "time", text: readingText(clock.wall(state.at), state.at) }),
      el("td", { class: isRight ? "right" : "wrong", text: errorText(error) }),
      el("td", { text: doing(run, node, at) }),
    );
  };
  fill(byId("clocks"), ...toldNodes(run).map(reads));
}

function eventDetails(run, event) {
  const mark = run.mark[event];
  const cause = run.cause[event];
  const broken = run.broken.filter(({ events }) => events.at(-1) === event).map(({ rule }) => record.rules[rule].name);
  return [
    el(
      "p",
      { class: `sentence m${mark}` },
      tagOf(run, event) ? el("span", { class: `tag m${mark}`, text: tagOf(run, event) }) : null,
      theirs(run.sentence(event)),
    ),
    broken.length > 0 ? el("p", { class: "breaks", text: `✗ breaks ${broken.join(", ")}` }) : null,
    el(
      "p",
      { class: "fields" },
      `#${event} ${run.nodes[run.node[event]].name}: `,
      theirs(run.fields(event)),
      cause > 0 ? el("a", { href: linkTo(run, event - cause), class: "cause", text: `because of #${event - cause}` }) : null,
    ),
  ];
}

/** A link to an event, as an instant of a run. */
const linkTo = (run, event) => `#t=${isoOf(run.exact[event])}&run=${run.protocol}&event=${event}`;

/** Where the cursor is, as a link. */
function linkHere() {
  const run = currentRun();
  return state.event === null ? `#t=${isoOf(state.at)}&run=${run.protocol}` : linkTo(run, state.event);
}

/** Goes to where the address says. Says whether it says so. */
function followAddress() {
  // A plus is a plus in it.
  const wanted = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  if (!wanted.has("t")) return false;
  const at = instantOf(wanted.get("t"));
  if (at === null) return false;
  const run = runs.findIndex((run) => run.protocol === wanted.get("run"));
  if (run >= 0) selectRun(run);
  const event = Number(wanted.get("event") ?? NaN);
  const here = currentRun();
  if (Number.isInteger(event) && event >= 0 && event < here.count && here.exact[event] === at) {
    moveToEvent(here.index, event);
  } else {
    const found = here.from(Number(at));
    if (found < here.count && here.exact[found] === at) moveToEvent(here.index, firstTold(here, found));
    else moveTo(at);
  }
  seek();
  return true;
}

/** Of the events of one instant the first that a row tells of, or the first. */
function firstTold(run, event) {
  for (let i = event; i < run.count && run.exact[i] === run.exact[event]; i++) if (run.rowOf[i] >= 0) return i;
  return event;
}

let noted = null;
/** Has the address follow the cursor, not at every step: browsers count how often. */
function noteAddress() {
  clearTimeout(noted);
  noted = setTimeout(() => history.replaceState(null, "", linkHere()), 300);
}
