// Puts the page together.

const panels = runs.map((run) => new Panel(run));
const overview = new Overview();
const axisCanvas = el("canvas", { class: "ink", "aria-hidden": true });

function drawHead() {
  fill(byId("title"), theirs(record.title));
  if (record.story) {
    fill(byId("story-told"), ...record.story.trim().split(/\n\s*\n/).map((part) => el("p", {}, theirs(part))));
  } else {
    byId("story-told").hidden = true;
  }
  const cards = runs.map((run, index) => {
    const { state: came, text, counts } = run.headline;
    const glyph = { broke: "✗", held: "✓", unknown: "?" }[came];
    return el(
      "button",
      { type: "button", class: `card ${came}`, "aria-pressed": "false", "data-run": index, onclick: () => switchRun(index) },
      el("span", { class: "glyph", "aria-hidden": true, text: glyph }),
      el("span", { class: "name", text: `${run.protocol} ${came === "broke" ? "broke" : came}` }),
      el("span", { class: "deed", text: came === "held" ? run.headline.text.replace(/^held/, "It held") : text }),
      counts ? el("span", { class: "counts", text: counts }) : null,
      run.repaired ? el("span", { class: "counts" }, "repaired: ", theirs(run.repaired.told.at(-1)[1])) : null,
    );
  });
  fill(byId("cards"), ...cards);
  const facts = [
    ["scenario", record.file],
    ["seed", record.seed],
    ["holdover", record.version],
    ...runs.map((run) => [run.protocol, run.ending]),
  ];
  fill(byId("facts"), ...facts.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", {}, theirs(value))]));
  byId("command").textContent = record.command;
  fill(byId("deviations"), el("b", { text: "Not as the scenario expects" }), ...record.deviations.map((text) => el("span", {}, theirs(text))));
  byId("deviations").hidden = record.deviations.length === 0;
}

function markRun() {
  for (const card of byId("cards").children) {
    card.setAttribute("aria-pressed", String(Number(card.dataset.run) === state.run));
  }
}

function drawPictures() {
  // Asked for before anything changes, or the page would be laid out again for each.
  const { clientWidth, clientHeight } = byId("axis");
  for (const panel of panels) panel.draw(clientWidth);
  drawAxis(axisCanvas, clientWidth, clientHeight);
  overview.drawWindow();
}

function drawAll() {
  // What can be scrolled must be within the reach of the keyboard.
  const title = byId("title");
  if (title.scrollHeight > title.clientHeight + 1) title.tabIndex = 0;
  else title.removeAttribute("tabindex");
  drawPictures();
  overview.draw();
  drawCursorDetails();
}

function say() {
  const run = currentRun();
  const text = state.event === null ? "" : run.sentence(state.event);
  byId("said").textContent = `${utcText(state.at)} ${cut(text, 300)}`;
}

/** The theme that was chosen, or that of the system. */
function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
  takeInk();
  drawAll();
  byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
}

function begin() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark.matches));
  dark.addEventListener("change", () => chooseTheme(dark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () =>
    chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  );
  byId("overview").append(overview.element);
  byId("axis").append(axisCanvas);
  byId("panels").append(...panels.map((panel) => panel.element));
  takeInk();
  drawHead();
  drawVerdicts();
  drawRepairs();
  drawFaults();
  drawReasons();
  drawHelp();
  drawFilters();
  listenToKeys();
  listenToPrinter();

  const pictures = oncePerFrame(drawPictures);
  on("view", pictures);
  on("run", () => {
    markRun();
    drawStory();
    table.page = 0;
    drawTable();
  });
  on("cursor", oncePerFrame(() => {
    for (const panel of panels) panel.drawCursor();
    drawCursorDetails();
    markStep();
    followInTable();
    drawScrubber();
    say();
    noteAddress();
  }));
  on("filter", oncePerFrame(() => {
    drawAll();
    table.page = 0;
    drawTable();
  }));
  // It draws at once as well.
  new ResizeObserver(oncePerFrame(drawAll)).observe(byId("panels"));

  // Where something broke is the first to be looked at.
  state.run = Math.max(runs.findIndex((run) => run.headline.state === "broke"), 0);
  if (runs.length === 0) return;
  markRun();
  drawStory();
  drawTable();
  showFocus();
  drawPictures();
  if (!followAddress()) {
    const run = currentRun();
    const first = run.broken.map(({ events }) => events.at(-1)).filter((event) => event !== undefined);
    if (first.length > 0) moveToEvent(run.index, Math.min(...first));
    else moveTo(0n);
  }
  window.addEventListener("hashchange", followAddress);
  document.documentElement.dataset.ready = "true";
}

begin();
