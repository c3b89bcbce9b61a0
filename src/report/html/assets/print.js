// On paper: pictures as wide as a page and sharp, in light colours, and the story's rows without pages.

/** The width of an A4 page on its side, between its margins, in pixels. */
const PAPER_WIDTH = 1040;
/** More rows than these aren't printed. */
const MOST_PRINTED = 400;

function preparePaper() {
  const root = document.documentElement;
  if (root.classList.contains("paper")) return;
  root.classList.add("paper");
  root.style.setProperty("--paper-width", `${PAPER_WIDTH}px`);
  sharpness = 3;
  takeInk();
  for (const element of document.querySelectorAll("details")) element.open = true;
  drawAll();
  fill(byId("paper-runs"), ...runs.flatMap(printedRun));
}

/** The story and the timeline of a run, as paper has them. */
function printedRun(run) {
  const steps = run.explained.story.map((step) =>
    el("li", {}, el("time", { text: step.utc }), " ", theirs(step.text), step.breaks ? el("b", { text: ` ✗ ${step.breaks}` }) : null),
  );
  const events = [...run.rowEvent.subarray(0, MOST_PRINTED)];
  const left = run.rowEvent.length - events.length;
  return [
    steps.length > 0 ? el("h2", { class: "first", text: `How it came about under ${run.protocol}` }) : null,
    steps.length > 0 ? el("ol", {}, ...steps) : null,
    el("h2", { class: steps.length > 0 ? "" : "first", text: `Timeline under ${run.protocol}` }),
    el(
      "table",
      { class: "rows" },
      el("thead", {}, el("tr", {}, ...["", "UTC", "who", "its own clock", "what happens"].map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, ...events.map((event) => rowOf(run, event))),
    ),
    left > 0 ? el("p", { text: `${left.toLocaleString("en")} rows more are in the file.` }) : null,
  ];
}

function leavePaper() {
  const root = document.documentElement;
  if (!root.classList.contains("paper")) return;
  root.classList.remove("paper");
  root.style.removeProperty("--paper-width");
  sharpness = 0;
  takeInk();
  fill(byId("paper-runs"));
  drawAll();
}

function listenToPrinter() {
  window.addEventListener("beforeprint", preparePaper);
  window.addEventListener("afterprint", leavePaper);
}
