// The lanes of a run, and what lasts in them: beliefs, grants, pauses, how wrong a clock is.

const WORKER_HEIGHT = 50;
const SERVICE_HEIGHT = 33;
/** So much lower are lanes on paper, for two runs to fit on a page. */
const PAPER_SHARE = 0.92;
const BAND = 15;
/** More workers than these share a lane, those first that nothing happened to. */
const MOST_WORKERS = 8;
/** A wall clock that is off by less is as good as right. */
const CLOCK_TOLERANCE = 1e6;

/** Which lanes there are and where, below a rail of the height `rail`. */
function laneLayout(run, rail) {
  const workers = run.lanes.filter((node) => run.nodes[node].role === "worker");
  const others = run.lanes.filter((node) => run.nodes[node].role !== "worker");
  const shown = mostInteresting(run, workers);
  const sharing = workers.filter((node) => !shown.includes(node));
  const lanes = shown.map((node) => ({ nodes: [node], label: run.nodes[node].name, isWorker: true }));
  if (sharing.length > 0) {
    lanes.push({ nodes: sharing, label: `${sharing.length} other workers`, isWorker: false });
  }
  for (const node of others) lanes.push({ nodes: [node], label: run.nodes[node].name, isWorker: false });
  const kept = lanes.filter((lane) => !lane.nodes.every((node) => state.hiddenNodes.has(run.nodes[node].name)));
  const of = new Int16Array(run.nodes.length).fill(-1);
  let top = rail;
  kept.forEach((lane, index) => {
    lane.top = top;
    lane.height = (lane.isWorker ? WORKER_HEIGHT : SERVICE_HEIGHT) * (sharpness ? PAPER_SHARE : 1);
    lane.middle = top + (lane.isWorker ? lane.height * 0.4 : lane.height / 2);
    top += lane.height;
    for (const node of lane.nodes) of[node] = index;
  });
  return { lanes: kept, of, rail, height: top };
}

/** Those that a fault struck first, then those that had the lease, in their order. */
function mostInteresting(run, workers) {
  if (workers.length <= MOST_WORKERS) return workers;
  const ranked = [...run.bands.faults.flatMap(({ nodes }) => nodes), ...run.bands.grants.map(({ worker }) => worker)];
  const first = [...new Set([...ranked, ...workers])].filter((node) => workers.includes(node));
  return first.slice(0, MOST_WORKERS - 1).sort((a, b) => a - b);
}

/** The middle of a node's lane, or null if it has none. */
const middleOf = (layout, node) => (layout.of[node] < 0 ? null : layout.lanes[layout.of[node]].middle);

/** Draws all that lasts in the lanes; gives the names that are to be written into it when all else is drawn. */
function drawBands(c, run, layout, scale) {
  const names = [];
  const band = (middle, from, until, epoch, text) => {
    const drawn = scale.stretch(from, until);
    if (!drawn) return;
    const [left, right] = drawn;
    c.fillStyle = epochInk(epoch);
    c.beginPath();
    c.roundRect(left, middle - BAND / 2, Math.max(right - left, 1), BAND, 3);
    c.fill();
    names.push({ text, middle, colour: epochInk(epoch), left: Math.max(left, 0), right: Math.min(right, scale.width) });
  };
  drawLifelines(c, run, layout, scale);
  for (const [worker, epoch, from, until] of run.bands.beliefs) {
    const lane = layout.lanes[layout.of[worker]];
    if (!lane || !lane.isWorker) continue;
    band(lane.middle, from, until, epoch, `lease ${epoch}`);
  }
  for (const grant of run.bands.grants) {
    const middle = middleOf(layout, grant.node);
    if (middle === null) continue;
    const token = grant.token === null ? "" : `, token ${grant.token}`;
    const text = `lease ${grant.epoch}: ${run.nodes[grant.worker].name}${token}`;
    band(middle, grant.from, grant.until, grant.epoch, text);
    c.fillStyle = ink["on-band"];
    for (const at of grant.renewed) {
      const x = scale.x(at);
      if (x > -5 && x < scale.width + 5) c.fillRect(x - 0.75, middle - BAND / 2, 1.5, BAND);
    }
  }
  for (const stretch of run.bands.halved) drawPause(c, run, layout, scale, stretch, "one task paused");
  for (const stretch of run.bands.paused) drawPause(c, run, layout, scale, stretch, "paused");
  for (const lane of layout.lanes) if (lane.isWorker) drawClock(c, run, lane, scale);
  return names;
}

/** Writes the names of bands where no event is in the way. */
function drawNames(c, names, hits) {
  c.font = font(10.5, 600);
  for (const { text, middle, colour, left, right } of names) {
    const width = c.measureText(text).width + 10;
    if (width + 6 > right - left) continue;
    const inTheWay = hits.filter(({ x, y }) => Math.abs(y - middle) < 9 && x > left - 9 && x < right + 9).map(({ x }) => x);
    const edges = [left - 6, ...inTheWay.sort((a, b) => a - b), right + 6];
    const gap = edges.findIndex((edge, i) => i + 1 < edges.length && edges[i + 1] - edge >= width + 18);
    if (gap < 0) continue;
    const x = edges[gap] + 10;
    c.fillStyle = colour;
    c.fillRect(x, middle - BAND / 2 + 1, width, BAND - 2);
    c.fillStyle = ink["on-band"];
    c.fillText(text, x + 4, middle + 0.5);
  }
}

function drawLifelines(c, run, layout, scale) {
  c.strokeStyle = ink.faint;
  c.lineWidth = 1;
  for (const lane of layout.lanes) {
    c.beginPath();
    c.moveTo(0, lane.middle);
    c.lineTo(Math.min(scale.width, Math.max(0, scale.x(run.ended_at))), lane.middle);
    c.stroke();
  }
  c.fillStyle = ink.surface;
  for (const [node, from, until] of run.bands.away) {
    const lane = layout.lanes[layout.of[node]];
    const drawn = lane && lane.nodes.length === 1 && scale.stretch(from, until);
    if (drawn) c.fillRect(drawn[0], lane.middle - 1, drawn[1] - drawn[0], 2);
  }
}

function drawPause(c, run, layout, scale, [node, from, until], what) {
  const lane = layout.lanes[layout.of[node]];
  const drawn = lane && scale.stretch(from, until);
  if (!drawn) return;
  const [left, right] = drawn;
  const height = what === "paused" ? BAND + 10 : BAND / 2;
  c.fillStyle = ink.surface;
  c.fillRect(left, lane.middle - height / 2, right - left, height);
  c.fillStyle = hatch(c);
  c.fillRect(left, lane.middle - height / 2, right - left, height);
  c.strokeStyle = ink.pause;
  c.lineWidth = 1;
  c.strokeRect(left, lane.middle - height / 2, right - left, height);
  const text = `${what} ${spanText(until - from)}`;
  c.font = font(11, 600);
  const width = c.measureText(text).width;
  const middle = (Math.max(left, 0) + Math.min(right, scale.width)) / 2;
  if (width + 12 > Math.min(right, scale.width) - Math.max(left, 0)) return;
  c.fillStyle = ink.surface;
  c.beginPath();
  c.roundRect(middle - width / 2 - 5, lane.middle - 8, width + 10, 16, 3);
  c.fill();
  c.fillStyle = ink.text;
  c.fillText(text, middle - width / 2, lane.middle + 0.5);
}

/** The error of a worker's wall clock, as a curve about a line that stands for right. */
function drawClock(c, run, lane, scale) {
  const clock = run.clocks[lane.nodes[0]];
  const ends = (line) => (line + 1 < clock.begins.length ? clock.begins[line + 1] : run.ended_at);
  if (clock.most === undefined) {
    clock.most = clock.ahead.reduce(
      (most, ahead, line) => Math.max(most, Math.abs(ahead), Math.abs(clock.aheadAtEnd(line, ends(line)))),
      0,
    );
  }
  const zero = lane.top + lane.height - 10;
  c.strokeStyle = ink.faint;
  c.lineWidth = 1;
  c.setLineDash([2, 3]);
  c.beginPath();
  c.moveTo(0, zero);
  c.lineTo(scale.width, zero);
  c.stroke();
  c.setLineDash([]);
  if (clock.most < CLOCK_TOLERANCE) return;
  const y = (ahead) => zero - (ahead / clock.most) * 8;
  const last = Math.max(lowerBound(clock.begins, scale.end) - 1, 0);
  c.strokeStyle = ink.clock;
  c.lineWidth = 1.6;
  c.beginPath();
  const labels = [];
  let before = null;
  for (let line = Math.max(lowerBound(clock.begins, scale.begin) - 1, 0); line <= last; line++) {
    const [from, until] = [Math.max(clock.begins[line], 0), ends(line)];
    const [left, right] = [scale.x(Math.max(from, scale.begin)), scale.x(Math.min(until, scale.end))];
    const ahead = clock.aheadAtEnd(line, Math.max(from, scale.begin));
    const after = clock.aheadAtEnd(line, Math.min(until, scale.end));
    if (before === null) c.moveTo(left, y(ahead));
    else c.lineTo(left, y(ahead));
    c.lineTo(right, y(after));
    if (before === null || Math.abs(ahead - before) >= CLOCK_TOLERANCE) labels.push([left, right, ahead]);
    before = after;
  }
  c.stroke();
  c.font = font(10);
  c.fillStyle = ink.clock;
  let free = -Infinity;
  for (const [left, , ahead] of labels) {
    if (Math.abs(ahead) < CLOCK_TOLERANCE) continue;
    const text = `clock ${ahead < 0 ? "−" : "+"}${spanText(Math.abs(ahead))}`;
    const x = Math.max(left, 0) + 4;
    if (x < free) continue;
    free = x + c.measureText(text).width + 10;
    c.fillText(text, x, ahead < 0 ? zero - 6 : zero + 6);
  }
}
