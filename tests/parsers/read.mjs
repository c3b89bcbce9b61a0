// Reads texts, a JSON array of them on stdin, with a parser that isn't ours, and writes as JSON what that parser understood
// of each: `node read.mjs mermaid` or `node read.mjs trace`.

import { readFileSync } from "node:fs";

const texts = JSON.parse(readFileSync(0, "utf8"));
const readers = { mermaid: readMermaid, trace: readTrace };
const understood = [];
for (const text of texts) understood.push(await readers[process.argv[2]](text));
process.stdout.write(JSON.stringify(understood));

/** Who takes part in a sequence diagram, and its lines in order: texts as they are drawn. */
async function readMermaid(text) {
  const { JSDOM } = await import("jsdom");
  const { window } = new JSDOM("");
  Object.assign(globalThis, { window, document: window.document });
  const { default: mermaid } = await import("mermaid");
  const { diagramType } = await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  // Mermaid keeps what was written as a number in letters of its own until it has drawn.
  const drawn = (kept) => {
    const area = window.document.createElement("textarea");
    area.innerHTML = kept.replaceAll("ﬂ°°", "&#").replaceAll("ﬂ°", "&").replaceAll("¶ß", ";");
    return area.value;
  };
  const { NOTE, RECT_START, RECT_END, SOLID, SOLID_CROSS } = db.LINETYPE;
  const kinds = new Map([
    [NOTE, "note"], [RECT_START, "rect"], [RECT_END, "end"], [SOLID, "arrow"], [SOLID_CROSS, "cross"],
  ]);
  return {
    type: diagramType,
    title: drawn(db.getDiagramTitle()),
    actors: [...db.getActors().values()].map((actor) => drawn(actor.description)),
    lines: db.getMessages().map(({ type, from, to, message }) => ({
      kind: kinds.get(type) ?? `unknown (${type})`, from, to, text: drawn(message),
    })),
  };
}

/** The processes of a trace with their threads, by two parsers of the Trace Event Format: TracerBench's, and Chrome's own. */
async function readTrace(text) {
  const trace = JSON.parse(text);
  const { default: tracerbench } = await import("@tracerbench/trace-model");
  const model = tracerbench.buildModel(structuredClone(trace));
  const { TraceModel } = await import("@paulirish/trace_engine");
  const engine = TraceModel.Model.createWithAllHandlers();
  await engine.parse(trace.traceEvents, {});
  const { Meta, Flows, Warnings } = engine.parsedTrace(0).data;
  return {
    processes: model.processes.map(({ id, name, threads }) => ({
      name,
      sameInChrome: Meta.processNames.get(id)?.args.name === name,
      threads: threads.filter((thread) => thread.name).map((thread) => thread.name),
    })),
    // Slices of a thread lie beside or within each other: none begins in another and ends behind it.
    crossing: model.processes.flatMap(({ threads }) => threads.flatMap(crossing)),
    counters: model.events.filter((event) => event.isCounter()).length,
    instants: trace.traceEvents.filter((event) => event.ph === "i").length,
    flows: Flows.flows.map((flow) => flow.map((event) => event.name)),
    warnings: Warnings?.perEvent?.size ?? 0,
  };
}

function crossing(thread) {
  const slices = thread.events.filter((event) => event.isComplete());
  const within = (inner, outer) => inner.start >= outer.end || inner.end <= outer.end;
  const open = [];
  const found = [];
  for (const slice of slices) {
    while (open.length > 0 && open.at(-1).end <= slice.start) open.pop();
    if (open.length > 0 && !within(slice, open.at(-1))) found.push(slice.name);
    open.push(slice);
  }
  return found;
}
