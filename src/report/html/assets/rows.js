// The timeline as a table, a page at a time: for those who read it, and for those who can't see the picture.

const PER_PAGE = 60;
const table = { all: false, page: 0, rows: [], asked: 0 };

/** So many events are looked at before the page may do something else. */
const AT_A_TIME = 20_000;

/** Gives `done` the events that the table has, in order: those that the story tells of, or all; as far as they are shown and
 * found. Gives up if it is asked again meanwhile. */
function tableEvents(run, done) {
  const wanted = state.search.trim().toLowerCase();
  const asked = ++table.asked;
  const count = table.all ? run.count : run.rowEvent.length;
  const events = [];
  let next = 0;
  const lookOn = () => {
    if (asked !== table.asked) return;
    for (const end = Math.min(next + AT_A_TIME, count); next < end; next++) {
      const event = table.all ? next : run.rowEvent[next];
      if (isShown(run, event) && (!wanted || matches(run, event, wanted))) events.push(event);
    }
    if (next < count) setTimeout(lookOn);
    else done(events);
  };
  lookOn();
}

function drawTable() {
  const run = currentRun();
  byId("rows-caption").textContent =
    `${table.all ? "Every event" : "The events that tell the story"} under ${run.protocol}` +
    (state.search.trim() ? `, with “${cut(state.search.trim(), 40)}”` : "");
  byId("found").textContent = "…";
  tableEvents(run, (events) => {
    table.rows = events;
    table.page = Math.min(table.page, lastPage());
    const hidden = [...state.hiddenGroups, ...state.hiddenNodes];
    const without = table.all && hidden.length > 0 ? `, without ${hidden.join(", ")}` : "";
    byId("found").textContent = `${events.length.toLocaleString("en")} ${events.length === 1 ? "row" : "rows"}${without}`;
    drawPage();
    followInTable();
  });
}

const lastPage = () => Math.max(0, Math.ceil(table.rows.length / PER_PAGE) - 1);

function drawPage() {
  const run = currentRun();
  const first = table.page * PER_PAGE;
  const rows = table.rows.slice(first, first + PER_PAGE).map((event) => rowOf(run, event));
  if (rows.length === 0) rows.push(el("tr", {}, el("td", { colspan: 5, class: "dim", text: "no such events" })));
  fill(byId("rows"), ...rows);
  byId("page").textContent = `page ${table.page + 1} of ${lastPage() + 1}`;
  byId("page-back").disabled = table.page === 0;
  byId("page-on").disabled = table.page >= lastPage();
}

function rowOf(run, event) {
  const mark = run.mark[event];
  const node = run.rowOf[event] < 0 || table.all ? run.node[event] : run.rowNode[run.rowOf[event]];
  const error = run.clocks[node].error(run.exact[event], event);
  const told = run.rowOf[event] >= 0;
  return el(
    "tr",
    { class: `m${mark}`, "data-event": event, "aria-current": run.index === state.run && event === state.event && !sharpness ? "true" : null },
    el("td", { class: "number", text: `#${event}` }),
    el("td", { class: "time" }, el("a", { href: linkTo(run, event), text: utcText(run.exact[event]) })),
    el("td", {}, theirs(run.nodes[node].name)),
    el("td", { class: error === 0n ? "time right" : "time wrong", text: error === 0n ? "" : readingText(run.clocks[node].wall(run.exact[event], event), run.exact[event]) }),
    el(
      "td",
      {},
      theirs(told ? run.sentence(event) : run.fields(event)),
      tagOf(run, event) ? el("span", { class: `tag m${mark}`, text: tagOf(run, event) }) : null,
    ),
  );
}

/** Turns to the page with the event that the cursor is on, and marks its row. */
function followInTable() {
  for (const row of byId("rows").querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
  if (state.event === null) return;
  const place = lowerBound(table.rows, state.event);
  if (table.rows[place] !== state.event) return;
  const page = Math.floor(place / PER_PAGE);
  if (page !== table.page) {
    table.page = page;
    drawPage();
  }
  byId("rows").querySelector(`[data-event="${state.event}"]`)?.setAttribute("aria-current", "true");
}

function turnPage(by) {
  table.page = Math.min(Math.max(table.page + by, 0), lastPage());
  drawPage();
}

/** What can be hidden: groups of events, and lanes. */
function drawFilters() {
  const box = (text, isOn, change) => {
    const input = el("input", { type: "checkbox", onchange: () => change(input.checked) });
    input.checked = isOn;
    return el("label", {}, input, theirs(text));
  };
  const hide = (set, what) => (isOn) => {
    if (isOn) set.delete(what);
    else set.add(what);
    tell("filter");
  };
  const groups = [...new Set(runs.flatMap((run) => run.kinds.map(({ group }) => group)))].sort();
  fill(byId("filter-groups"), ...groups.map((group) => box(group, !state.hiddenGroups.has(group), hide(state.hiddenGroups, group))));
  const names = [...new Set(runs.flatMap((run) => run.lanes.map((node) => run.nodes[node].name)))].slice(0, 40);
  fill(byId("filter-nodes"), ...names.map((name) => box(name, !state.hiddenNodes.has(name), hide(state.hiddenNodes, name))));
}
