// The record that the page shows, as the program wrote it, and its columns unpacked.

const HOLE = "\u0001";

/** What a mark's number means. */
const PLAIN = 0, FAULT = 1, HEALED = 2, STALE = 3, REJECTED = 4;
const MARK_NAMES = ["", "fault", "healed", "stale", "turned away"];

/** What an event's mark is called, unless its sentence begins with it in capitals. */
const tagOf = (run, event) => (/^[A-Z]{4,}/.test(run.sentence(event)) ? "" : MARK_NAMES[run.mark[event]]);

/** Texts whose numbers are kept apart: `at(i)` is the i-th. */
class Texts {
  constructor({ forms, form, numbers }) {
    this.parts = forms.map((text) => text.split(HOLE));
    this.form = form;
    this.numbers = numbers;
    this.first = new Uint32Array(form.length);
    let next = 0;
    form.forEach((index, i) => {
      this.first[i] = next;
      next += this.parts[index].length - 1;
    });
  }

  get length() {
    return this.form.length;
  }

  at(i) {
    const parts = this.parts[this.form[i]];
    let text = parts[0];
    for (let hole = 1; hole < parts.length; hole++) text += this.numbers[this.first[i] + hole - 1] + parts[hole];
    return text;
  }
}

/** One protocol's run. */
class Run {
  constructor(index, raw) {
    Object.assign(this, raw);
    this.index = index;
    const events = raw.events;
    const count = events.node.length;
    this.count = count;
    /** When, exactly and as far as a number goes. */
    this.exact = new BigInt64Array(count);
    this.at = new Float64Array(count);
    let at = 0n;
    for (let i = 0; i < count; i++) {
      at += BigInt(events.after[i]);
      this.exact[i] = at;
      this.at[i] = Number(at);
    }
    this.node = Uint16Array.from(events.node);
    this.worker = Int32Array.from(events.worker);
    this.kind = Uint8Array.from(events.kind);
    this.mark = Uint8Array.from(events.mark);
    this.epoch = Uint32Array.from(events.epoch);
    this.cause = events.cause;
    this.kinds = events.kinds;
    this.text = new Texts(events.text);
    this.rowEvent = Uint32Array.from(raw.rows.event);
    this.rowMark = raw.rows.mark;
    this.rowNode = raw.rows.node;
    this.rowText = new Texts(raw.rows.text);
    /** By event: the row that tells of it, or -1. */
    this.rowOf = new Int32Array(count).fill(-1);
    this.rowEvent.forEach((event, row) => (this.rowOf[event] = row));
    this.lane = new Uint16Array(raw.nodes.length);
    raw.lanes.forEach((node, lane) => (this.lane[node] = lane));
    this.messageSent = Float64Array.from(raw.messages, ([sent]) => this.at[sent]);
    /** What each broken rule is shown by. */
    this.broken = raw.verdicts
      .map((verdict, rule) => ({ rule, ...verdict }))
      .filter((verdict) => verdict.state === "violated");
  }

  /** What happens in event `i`, in a sentence if there is one. */
  sentence(i) {
    const row = this.rowOf[i];
    return row < 0 ? `${this.nodes[this.node[i]].name} ${this.text.at(i)}` : this.rowText.at(row);
  }

  /** Kind and fields of event `i`. */
  fields(i) {
    return this.text.at(i);
  }

  group(i) {
    return this.kinds[this.kind[i]].group;
  }

  kindName(i) {
    return this.kinds[this.kind[i]].name;
  }

  /** The first event at `at` or later. */
  from(at) {
    return lowerBound(this.at, at);
  }
}

const record = JSON.parse(byId("record").textContent);
const runs = record.runs.map((run, index) => new Run(index, run));
const start = BigInt(record.start);
/** When the last of the runs ended. */
const endOfAll = Math.max(1, ...runs.map((run) => run.ended_at));
