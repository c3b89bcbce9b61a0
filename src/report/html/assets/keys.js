// The keyboard, and the buttons that do the same.

let keysOn = true;

const KEYS = [
  [["→", "n"], "next event of the story", () => step(1)],
  [["←", "p"], "previous event of the story", () => step(-1)],
  [["]"], "next event of whatever kind", () => stepAny(1)],
  [["["], "previous event of whatever kind", () => stepAny(-1)],
  [["w"], "next event that is stale, done twice or turned away", () => stepWrong(1)],
  [["W"], "the previous one", () => stepWrong(-1)],
  [["s"], "next step of how it came about", () => stepStory(1)],
  [["S"], "previous step", () => stepStory(-1)],
  [["1…9"], "to the run under that protocol, at the same instant", null],
  [["+"], "closer", () => zoom(1 / 1.6)],
  [["-"], "further away", () => zoom(1.6)],
  [["0"], "all of the run", () => showAll()],
  [["f"], "where it matters", () => showFocus()],
  [["h"], "to the left", () => pan(-0.2)],
  [["l"], "to the right", () => pan(0.2)],
  [["t"], "long stretches drawn short, or time as it is", () => byId("axis-kind").click()],
  [["/"], "search", () => byId("search").focus()],
  [["?"], "this list", () => toggleHelp()],
];

const ARROWS = { ArrowRight: "→", ArrowLeft: "←", "=": "+", Home: "0" };

/** The next or previous step of the story. */
function stepStory(way) {
  const run = currentRun();
  const { story } = run.explained;
  if (story.length === 0) return;
  const here = story.findIndex(({ event }) => event !== null && event === state.event);
  let next = here + way;
  if (here < 0) {
    const at = Number(state.at);
    next = way > 0 ? story.findIndex((step) => step.at > at) : story.findLastIndex((step) => step.at < at);
  }
  if (story[next]) followStep(run, story[next]);
}

function onKey(event) {
  if (!keysOn || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target.closest("input, select, textarea") && target.type !== "checkbox") return;
  if (byId("help").open && event.key !== "?") return;
  const key = ARROWS[event.key] ?? event.key;
  if (/^[1-9]$/.test(key) && runs[Number(key) - 1]) {
    switchRun(Number(key) - 1);
  } else {
    const found = KEYS.find(([names, , act]) => act && names.includes(key));
    if (!found) return;
    found[2]();
  }
  event.preventDefault();
}

/** Looks at another run at the same instant: at its event there, if it has one. */
function switchRun(index) {
  const at = state.at;
  selectRun(index);
  const run = currentRun();
  const event = run.from(Number(at));
  if (event < run.count && run.exact[event] === at) moveToEvent(index, firstTold(run, event));
  else moveTo(at);
}

function toggleHelp() {
  const help = byId("help");
  if (help.open) help.close();
  else help.showModal();
}

function drawHelp() {
  const rows = KEYS.map(([names, what]) =>
    el("tr", {}, el("th", { scope: "row" }, ...names.map((name) => el("kbd", { text: name }))), el("td", { text: what })),
  );
  fill(byId("help-rows"), ...rows);
}

function listenToKeys() {
  document.addEventListener("keydown", onKey);
  const press = (id, act) => byId(id).addEventListener("click", act);
  press("back", () => step(-1));
  press("on", () => step(1));
  press("closer", () => zoom(1 / 1.6));
  press("further", () => zoom(1.6));
  press("whole", showAll);
  press("focus", showFocus);
  press("page-back", () => turnPage(-1));
  press("page-on", () => turnPage(1));
  press("help-open", toggleHelp);
  press("help-close", toggleHelp);
  press("axis-kind", () => {
    setAxis(state.axis === "short" ? "true" : "short");
    byId("axis-kind").setAttribute("aria-pressed", String(state.axis === "short"));
  });
  byId("keys-on").addEventListener("change", ({ target }) => (keysOn = target.checked));
  byId("all-events").addEventListener("change", ({ target }) => {
    table.all = target.checked;
    table.page = 0;
    drawTable();
  });
  const search = byId("search");
  search.addEventListener("input", () => {
    state.search = search.value;
    tell("filter");
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") findNext(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") search.blur();
  });
  byId("scrubber").addEventListener("input", ({ target }) => {
    const run = currentRun();
    if (run.rowEvent.length > 0) moveToEvent(run.index, run.rowEvent[Number(target.value)]);
  });
}

/** The slider stands at the last row of the story that has happened by the cursor. */
function drawScrubber() {
  const run = currentRun();
  const slider = byId("scrubber");
  slider.max = String(Math.max(run.rowEvent.length - 1, 0));
  const row = Math.max(lowerBound(run.rowEvent, Math.floor(position(run)) + 1) - 1, 0);
  slider.value = String(row);
  const text = run.rowEvent.length > 0 ? run.rowText.at(row) : "nothing happened";
  slider.setAttribute("aria-valuetext", `${utcText(state.at)}: ${cut(text, 200)}`);
}
