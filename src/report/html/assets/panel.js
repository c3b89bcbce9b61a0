// The picture of one run: lanes, bands, messages and events, with the cursor over them.

/** Of more messages than these in the picture none is drawn, and of more events only how many there are and what is wrong. */
const MOST_MESSAGES = 1200;
const MOST_EVENTS = 3000;
/** Of more things that stand out, in a picture of many events, none has its shape. */
const MOST_SHAPES = 240;
/** How near the pointer must be to an event, in pixels. */
const REACH = 16;

class Panel {
  constructor(run) {
    this.run = run;
    this.hits = [];
    this.canvas = el("canvas", { class: "ink", "aria-hidden": true });
    this.line = el("div", { class: "cursor", "aria-hidden": true });
    this.labels = el("div", { class: "labels", "aria-hidden": true });
    this.tip = el("div", { class: "tip", hidden: true, "aria-hidden": true });
    this.plot = el("div", { class: "plot" }, this.canvas, this.line, this.tip);
    const glyph = { broke: "✗", held: "✓", unknown: "?" }[run.headline.state];
    this.element = el(
      "section",
      { class: `panel ${run.headline.state}`, "aria-label": `picture of the run under ${run.protocol}` },
      el("h3", {}, el("span", { class: "glyph", text: glyph }), ` ${run.protocol} `, el("small", { text: run.summary })),
      el("div", { class: "frame", role: "img", "aria-label": this.description() }, this.labels, this.plot),
    );
    this.prepare();
    listenToPointer(this);
  }

  /** What the picture shows, for those who can't see it; the table below has the whole. */
  description() {
    const { headline, nodes } = this.run;
    const lanes = this.run.lanes.slice(0, 12).map((node) => nodes[node].name);
    return `Lanes of ${lanes.join(", ")} over true time. ${headline.text}. The table of events has the same in words.`;
  }

  /** Finds out once what doesn't change. */
  prepare() {
    const { run } = this;
    this.notable = [];
    for (let i = 0; i < run.count; i++) if (run.mark[i] !== PLAIN) this.notable.push(i);
    this.stale = this.notable.filter((i) => run.mark[i] === STALE);
    const byEnd = new Map(run.messages.map(([, end], message) => [end, message]));
    /** The messages that brought what is wrong or was turned away, with its mark. */
    this.telling = new Map();
    for (const i of this.notable) {
      const message = byEnd.get(i - run.cause[i]);
      if (message !== undefined && (run.mark[i] === STALE || run.mark[i] === REJECTED)) {
        this.telling.set(message, run.mark[i]);
      }
    }
  }

  /** Draws the picture `width` pixels wide. */
  draw(width) {
    const { run } = this;
    const scale = new Scale(width);
    const { placed, rail } = placeFlags(run, scale);
    const layout = laneLayout(run, rail);
    this.scale = scale;
    this.layout = layout;
    this.plot.style.height = `${layout.height}px`;
    this.drawLabels();
    const c = cleared(this.canvas, width, layout.height);
    this.hits = [];
    this.drawGround(c, scale);
    const names = drawBands(c, run, layout, scale);
    const [first, end] = [run.from(scale.begin), run.from(scale.end + 1)];
    this.drawMessages(c, scale, first, end);
    if (end - first > MOST_EVENTS) this.drawCrowd(c, scale, first, end);
    else for (let i = first; i < end; i++) this.drawOne(c, scale, i);
    for (const { events } of run.broken) {
      const event = events.at(-1);
      const y = event === undefined ? null : middleOf(layout, run.node[event]);
      if (y !== null) drawViolation(c, scale.x(run.at[event]), y);
    }
    drawNames(c, names, this.hits);
    this.hits.push(...drawFlags(c, placed, layout));
    this.drawCursor();
  }

  drawLabels() {
    fill(
      this.labels,
      ...this.layout.lanes.map((lane) => {
        const label = el("div", { class: lane.isWorker ? "label worker" : "label" }, theirs(lane.label));
        label.style.top = `${lane.middle}px`;
        return label;
      }),
    );
  }

  /** What lies below all lanes: their borders, shortened gaps, overlaps of belief and stale writes. */
  drawGround(c, scale) {
    const { layout, run } = this;
    const [top, height] = [layout.rail, layout.height - layout.rail];
    for (const { from, until } of scale.axis.breaks) {
      const drawn = scale.stretch(from, until);
      if (!drawn) continue;
      c.fillStyle = ink.break;
      c.fillRect(drawn[0], top, drawn[1] - drawn[0], height);
    }
    c.fillStyle = ink["bad-wash"];
    for (const [from, until] of run.bands.overlaps) {
      const drawn = scale.stretch(from, until);
      if (!drawn) continue;
      c.fillRect(drawn[0], top, Math.max(drawn[1] - drawn[0], 1.5), height);
    }
    let painted = -Infinity;
    c.fillStyle = ink.bad;
    c.globalAlpha = 0.22;
    for (const i of this.stale) {
      const x = scale.x(run.at[i]);
      if (x < painted || x < -4 || x > scale.width + 4) continue;
      c.fillRect(x - 1.5, top, 3, height);
      painted = x + 3;
    }
    c.globalAlpha = 1;
    c.strokeStyle = ink.line;
    c.lineWidth = 1;
    c.beginPath();
    for (const lane of layout.lanes) {
      c.moveTo(0, Math.round(lane.top) + 0.5);
      c.lineTo(scale.width, Math.round(lane.top) + 0.5);
    }
    c.stroke();
  }

  drawMessages(c, scale, first, end) {
    if (state.hiddenGroups.has("messages")) return;
    const { run } = this;
    // Those that were sent before and arrive in the picture are among those sent shortly before it.
    const span = run.at[Math.min(end, run.count) - 1] - run.at[first] || 0;
    const from = lowerBound(run.messageSent, scale.begin - Math.max(span, 1e9));
    const until = lowerBound(run.messageSent, scale.end + 1);
    const all = until - from <= MOST_MESSAGES;
    const telling = [...this.telling.keys()].filter((message) => message >= from && message < until);
    if (!all && telling.length > MOST_MESSAGES) return;
    const drawAt = (message) => {
      const [sent, ended, to, lost] = run.messages[message];
      const [y0, y1] = [middleOf(this.layout, run.node[sent]), middleOf(this.layout, to)];
      if (y0 === null || y1 === null) return;
      const x0 = scale.x(run.at[sent]);
      const x1 = ended < 0 ? x0 + 8 : scale.x(run.at[ended]);
      if (x1 < -5 || x0 > scale.width + 5) return;
      const mark = this.telling.get(message);
      c.strokeStyle = mark === STALE ? ink.bad : mark === REJECTED ? ink.good : lost ? ink.fault : ink.message;
      c.globalAlpha = mark === undefined && !lost ? 0.55 : 0.95;
      c.lineWidth = mark === undefined ? 0.9 : 1.7;
      const reaches = ended < 0 || lost ? 0.6 : 1;
      c.beginPath();
      c.moveTo(x0, y0);
      c.lineTo(x0 + (x1 - x0) * reaches, y0 + (y1 - y0) * reaches);
      c.stroke();
    };
    if (all) for (let message = from; message < until; message++) drawAt(message);
    for (const message of telling) drawAt(message);
    c.globalAlpha = 1;
  }

  drawOne(c, scale, i) {
    const { run } = this;
    if (!isShown(run, i)) return;
    const y = middleOf(this.layout, run.node[i]);
    if (y === null) return;
    const isMessage = run.group(i) === "messages";
    if (isMessage && run.mark[i] === PLAIN) return;
    const x = scale.x(run.at[i]);
    drawEvent(c, run, i, x, y);
    this.hits.push({ x, y, event: i });
  }

  /** So many events that they are only counted, but for what stands out. */
  drawCrowd(c, scale, first, end) {
    const { run, layout } = this;
    const columns = Math.ceil(scale.width / 2) + 1;
    const counts = new Uint32Array(columns * layout.lanes.length);
    const groups = run.kinds.map(({ group }) => state.hiddenGroups.has(group));
    let most = 1;
    // Places are worked out once a column, not once an event.
    let column = 0;
    let until = -Infinity;
    for (let i = first; i < end; i++) {
      const lane = layout.of[run.node[i]];
      if (lane < 0 || groups[run.kind[i]]) continue;
      if (run.at[i] >= until) {
        column = Math.min(Math.max(Math.floor(scale.x(run.at[i]) / 2), 0), columns - 1);
        until = scale.at((column + 1) * 2);
      }
      const count = ++counts[lane * columns + column];
      if (count > most) most = count;
    }
    layout.lanes.forEach((lane, index) => {
      c.fillStyle = ink.muted;
      c.globalAlpha = 0.5;
      for (let x = 0; x < columns; x++) {
        const count = counts[index * columns + x];
        if (count === 0) continue;
        const height = 3 + (Math.log(1 + count) / Math.log(1 + most)) * (SERVICE_HEIGHT - 18);
        c.fillRect(x * 2, lane.middle - height / 2, 1.6, height);
      }
    });
    c.globalAlpha = 1;
    const notable = this.notable.slice(lowerBound(this.notable, first), lowerBound(this.notable, end));
    if (notable.length > MOST_SHAPES) this.drawNotable(c, scale, notable);
    else for (const i of notable) this.drawOne(c, scale, i);
  }

  /** Strokes for what stands out, where there is too much for shapes: one for all of a kind at a place. */
  drawNotable(c, scale, events) {
    const { run, layout } = this;
    const taken = new Set();
    for (const i of events) {
      const lane = layout.of[run.node[i]];
      if (lane < 0 || !isShown(run, i)) continue;
      const x = Math.round(scale.x(run.at[i]) / 3) * 3;
      const slot = (x * 256 + lane) * 8 + run.mark[i];
      if (taken.has(slot)) continue;
      taken.add(slot);
      const y = layout.lanes[lane].middle;
      c.fillStyle = run.mark[i] === STALE ? ink.bad : run.mark[i] === REJECTED ? ink.good : ink.fault;
      c.fillRect(x - 1, y - 7, 2, 14);
      this.hits.push({ x, y, event: i });
    }
  }

  drawCursor() {
    if (!this.scale) return;
    const x = this.scale.x(Number(state.at));
    this.line.hidden = x < 0 || x > this.scale.width;
    this.line.style.transform = `translateX(${x}px)`;
    this.element.classList.toggle("current", state.run === this.run.index);
    const event = state.run === this.run.index ? state.event : null;
    const y = event === null ? null : middleOf(this.layout, this.run.node[event]);
    this.line.style.setProperty("--dot", y === null ? "-20px" : `${y}px`);
  }

  /** The event nearest to a place, if it is near enough. */
  hit(x, y) {
    let best = null;
    let least = REACH * REACH;
    for (const hit of this.hits) {
      const dx = Math.max(0, Math.abs(hit.x - x) - (hit.width ?? 0) / 2);
      const distance = dx ** 2 + (hit.y - y) ** 2;
      if (distance < least) [best, least] = [hit, distance];
    }
    return best;
  }

  showTip(hit) {
    this.tip.hidden = hit === null;
    if (hit === null) return;
    const { run } = this;
    const { event } = hit;
    const clock = run.clocks[run.node[event]].error(run.exact[event], event);
    const marked = tagOf(run, event);
    fill(
      this.tip,
      el("strong", { text: utcText(run.exact[event]) }),
      marked ? el("em", { class: `m${run.mark[event]}`, text: marked }) : null,
      el("span", {}, theirs(cut(run.sentence(event), 300))),
      clock === 0n ? null : el("small", { text: `${run.nodes[run.node[event]].name}'s wall clock: ${errorText(clock)}` }),
    );
    const width = this.plot.clientWidth;
    this.tip.style.left = `${Math.min(Math.max(hit.x - 130, 0), Math.max(width - 270, 0))}px`;
    this.tip.style.top = `${hit.y + 18}px`;
  }
}

/** Pointer, wheel and fingers: hover tells, a click moves the cursor, dragging moves the picture, two fingers zoom. */
function listenToPointer(panel) {
  const { plot } = panel;
  const fingers = new Map();
  let dragged = 0;
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  plot.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, place(event));
    dragged = 0;
  });
  plot.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const before = fingers.get(event.pointerId);
    if (!before) return panel.showTip(panel.hit(x, y));
    panel.showTip(null);
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const width = plot.clientWidth;
    if (others.length > 0) {
      const [was, is] = [Math.abs(before[0] - others[0][0]), Math.abs(x - others[0][0])];
      const middle = state.from + ((x + others[0][0]) / 2 / width) * (state.until - state.from);
      if (is > 10) zoom(was / is, middle);
    } else {
      dragged += Math.abs(x - before[0]);
      if (dragged > 4) {
        plot.setPointerCapture(event.pointerId);
        pan((before[0] - x) / width);
      }
    }
    fingers.set(event.pointerId, [x, y]);
  });
  const lift = (event) => fingers.delete(event.pointerId);
  plot.addEventListener("pointercancel", lift);
  plot.addEventListener("pointerleave", () => panel.showTip(null));
  plot.addEventListener("pointerup", (event) => {
    lift(event);
    if (dragged > 4) return;
    const [x, y] = place(event);
    const hit = panel.hit(x, y);
    if (hit) return moveToEvent(panel.run.index, hit.event);
    selectRun(panel.run.index);
    moveTo(BigInt(Math.round(panel.scale.at(x))));
  });
  plot.addEventListener(
    "wheel",
    (event) => {
      const [x] = place(event);
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const around = state.from + (x / plot.clientWidth) * (state.until - state.from);
        zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) / 100), around);
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / plot.clientWidth);
      }
    },
    { passive: false },
  );
}
