// Why it came about, and what it came to: the story in steps, the verdicts, the faults, the edges.

function drawStory() {
  const run = currentRun();
  const { story, left_out: leftOut } = run.explained;
  byId("story-head").textContent = `How it came about under ${run.protocol}`;
  if (story.length === 0) {
    const held = run.headline.state === "held" ? "Nothing was broken, so there is nothing to explain." : "";
    fill(byId("story"), el("li", { class: "dim", text: held || "Nothing that was broken could be traced back." }));
    return;
  }
  const steps = story.map((step, index) => {
    const own = step.own === null ? null : el("span", { class: "own", text: `its clock: ${step.own}` });
    return el(
      "li",
      { class: step.breaks ? "breaking" : step.is_fault ? "fault" : "" },
      el(
        "button",
        { type: "button", "data-step": index, onclick: () => followStep(run, step) },
        el("span", { class: "when" }, el("time", { text: step.utc }), own),
        el("span", { class: "what" }, theirs(step.text)),
        step.breaks ? el("span", { class: "breaks", text: `✗ ${step.breaks}` }) : null,
      ),
    );
  });
  if (leftOut > 0) steps.push(el("li", { class: "dim", text: `${leftOut} steps are left out` }));
  fill(byId("story"), ...steps);
}

function followStep(run, step) {
  if (step.event === null) moveTo(BigInt(step.at));
  else moveToEvent(run.index, step.event);
}

/** Marks the step of the story that the cursor is on. */
function markStep() {
  const { story } = currentRun().explained;
  for (const button of byId("story").querySelectorAll("button")) {
    const isHere = state.event !== null && story[Number(button.dataset.step)].event === state.event;
    if (isHere) {
      button.setAttribute("aria-current", "step");
      scrollInto(byId("story"), button);
    } else button.removeAttribute("aria-current");
  }
}

/** Scrolls a list, and nothing around it, so that an element of it can be seen. */
function scrollInto(list, element) {
  const [outer, inner] = [list.getBoundingClientRect(), element.getBoundingClientRect()];
  // Near its top, because its lower end may be below the window.
  if (inner.top < outer.top || inner.bottom > outer.bottom) list.scrollTop += inner.top - outer.top - 48;
}

const GLYPHS = { holds: "✓", violated: "✗", unknown: "?" };

/** The table rule × protocol, with what was seen below it. */
function drawVerdicts() {
  const heads = runs.map((run) => el("th", { scope: "col", text: run.protocol }));
  const rules = record.rules.map((rule, index) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, rule.name, el("small", { text: `holds when ${rule.means}` })),
      ...runs.map((run) => verdictCell(run, run.verdicts[index])),
    ),
  );
  const seen = record.sightings.map((sighting, index) =>
    el(
      "tr",
      { class: "seen" },
      el("th", { scope: "row" }, sighting.name, el("small", { text: sighting.means })),
      ...runs.map((run) => el("td", { text: run.seen[index] === 0 ? "–" : `${run.seen[index].toLocaleString("en")}×` })),
    ),
  );
  const overlap = el(
    "tr",
    { class: "seen" },
    el("th", { scope: "row" }, "belief overlap", el("small", { text: "how long two workers both thought that they held the lease" })),
    ...runs.map((run) => el("td", { text: run.belief_overlap ?? "–" })),
  );
  fill(byId("verdict-heads"), el("th", { scope: "col", text: "rule" }), ...heads);
  fill(byId("verdict-rows"), ...rules);
  fill(byId("seen-heads"), el("th", { scope: "col", text: "seen" }), ...heads.map((head) => head.cloneNode(true)));
  fill(byId("seen-rows"), ...seen, overlap);
}

function verdictCell(run, verdict) {
  const text = verdict.text.replace("VIOLATED", "violated");
  const event = verdict.events.at(-1);
  return el(
    "td",
    { class: verdict.state },
    el("span", { class: "verdict" }, el("span", { class: "glyph", "aria-hidden": true, text: GLYPHS[verdict.state] }), text),
    verdict.why ? el("small", {}, theirs(verdict.why)) : null,
    event === undefined ? null : el("a", { href: linkTo(run, event), text: "show" , "aria-label": `show where ${run.protocol} broke it` }),
  );
}

/** What each fault is to it, under each protocol. */
function drawFaults() {
  const faults = record.faults.map((fault, index) => {
    const under = runs.map((run) => {
      const strike = run.bands.faults.find((one) => one.fault === index);
      const when = strike ? el("a", { href: linkTo(run, strike.event), text: utcText(BigInt(strike.from)) }) : null;
      const told = run.explained.roles[index] ?? [];
      return el(
        "li",
        {},
        el("p", {}, el("b", { text: run.protocol }), ` ${run.bites[index]} `, when),
        told.length > 0 ? el("ul", {}, ...told.map(([text, tone]) => el("li", { class: `tone-${tone}`, text }))) : null,
      );
    });
    return el("li", {}, el("p", { class: "planned" }, theirs(fault.text)), el("ul", { class: "under" }, ...under));
  });
  fill(byId("faults"), ...(faults.length > 0 ? faults : [el("li", { class: "dim", text: "No faults are planned." })]));
}

/** How each run that was repaired was: who did it, what became of each operation, and what it adds up to. */
function drawRepairs() {
  const repaired = runs.filter((run) => run.repaired !== null);
  byId("repair").hidden = repaired.length === 0;
  const figures = (title, rows) =>
    el(
      "table",
      { class: "figures" },
      el("caption", { text: title }),
      el("tbody", {}, ...rows.map(([what, much, tone]) =>
        el("tr", {}, el("th", { scope: "row", text: what }), el("td", { class: `tone-${tone}`, text: much })),
      )),
    );
  const parts = repaired.map((run) => {
    const { told, alike, operations, left_out: leftOut, totals, sums, unresolved } = run.repaired;
    const operation = ({ head: [text, tone], parts: found }) =>
      el(
        "li",
        {},
        el("p", { class: `tone-${tone}` }, el("b", { text })),
        el("ul", {}, ...found.map(([label, text, tone, event]) =>
          el("li", {}, el("a", { href: linkTo(run, event), text: label }), " ", el("span", { class: `tone-${tone}` }, theirs(text))),
        )),
      );
    return el(
      "article",
      {},
      el("h3", { text: `under ${run.protocol}` }),
      el("dl", { class: "told" }, ...told.flatMap(([label, text, tone]) =>
        [el("dt", { text: label }), el("dd", { class: `tone-${tone}` }, theirs(text))],
      )),
      el("h4", { text: "Operation by operation" }),
      el(
        "ul",
        { class: "operations" },
        ...alike.map(([text, tone]) => el("li", {}, el("p", { class: `tone-${tone}`, text }))),
        ...operations.map(operation),
        leftOut > 0 ? el("li", { class: "dim", text: `and ${leftOut.toLocaleString("en")} operations more` }) : null,
      ),
      el("div", { class: "sums" }, figures("Totals", totals), figures("Sums", sums)),
      unresolved.length > 0 ? el("h4", { text: "What is unresolved" }) : null,
      ...unresolved.map(([why, truth]) => el("p", { class: "tone-fault" }, why, el("small", { class: "dim", text: ` (${truth})` }))),
    );
  });
  fill(byId("repairs"), ...parts);
}

/** Which faults are enough, where the edges of numbers are, and what other protocols make of it. */
function drawReasons() {
  const parts = runs.map((run) => {
    const { enough, pairs, edges, ran, spent } = run.explained;
    const lines = [...enough, ...pairs].map((text) => el("li", { text }));
    const numbers = edges.map(({ fault, name, edges: told }) =>
      el("li", {}, el("b", { text: `fault ${fault + 1}: ${name}` }), el("ul", {}, ...told.map((text) => el("li", { text })))),
    );
    const holds = run.broken.length === 0;
    return el(
      "article",
      {},
      el("h3", { text: run.protocol }),
      run.blame ? el("p", { class: "dim", text: run.blame }) : null,
      lines.length > 0 ? el("h4", { text: "Which faults are enough" }) : null,
      lines.length > 0 ? el("ul", {}, ...lines) : null,
      numbers.length > 0 ? el("h4", { text: holds ? "How far it is to the edge" : "Where the edges are" }) : null,
      numbers.length > 0 ? el("ul", { class: "edges" }, ...numbers) : null,
      ran && numbers.length === 0 && holds ? el("p", { text: "Nothing breaks, whatever the numbers of the faults." }) : null,
      el("p", { class: "dim", text: spent }),
    );
  });
  fill(byId("reasons"), ...parts);
  const elsewhere = record.elsewhere.map(({ protocol, text, refused }) =>
    el("tr", {}, el("th", { scope: "row", text: protocol }), el("td", {}, text, refused ? el("small", {}, theirs(refused)) : null)),
  );
  fill(byId("elsewhere"), ...elsewhere);
}
