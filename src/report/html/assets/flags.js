// The rail above the lanes: where faults strike and where rules break, with their names.

const FLAG = 17;
const MOST_RAIL_ROWS = 4;

/** What is to be flagged in a run, in the order of time. */
function flagsOf(run) {
  const flags = run.bands.faults.map(({ fault, event, from, nodes }) => {
    const planned = record.faults[fault];
    const text = `▼ ${fault + 1} ${planned.note ?? planned.phrase}`;
    return { at: from, event, text, isBad: false, nodes };
  });
  const byEvent = new Map();
  for (const { rule, events } of run.broken) {
    const event = events.at(-1);
    if (event === undefined) continue;
    byEvent.set(event, [...(byEvent.get(event) ?? []), record.rules[rule].name]);
  }
  for (const [event, rules] of byEvent) {
    flags.push({ at: run.at[event], event, text: `✗ ${rules.join(", ")}`, isBad: true, nodes: [run.node[event]] });
  }
  return flags.sort((a, b) => a.at - b.at);
}

/** Finds a place in the rail for each flag in the picture; gives them and how many rows they take. */
function placeFlags(run, scale) {
  run.flags ??= flagsOf(run);
  const free = [];
  const placed = [];
  measuring.font = font(11, 600);
  for (const flag of run.flags) {
    if (flag.at < scale.begin || flag.at > scale.end) continue;
    const x = scale.x(flag.at);
    const text = cut(flag.text, scale.width < 500 ? 26 : 44);
    const width = measuring.measureText(text).width + 12;
    const left = Math.min(Math.max(x - 6, 2), Math.max(scale.width - width - 2, 2));
    let row = free.findIndex((end) => end + 4 <= left);
    if (row < 0 && free.length < MOST_RAIL_ROWS) row = free.length;
    if (row >= 0) free[row] = left + width;
    placed.push({ flag, x, left, width, text, row });
  }
  return { placed, rail: free.length * FLAG + 6 };
}

/** Draws placed flags with lines to what they flag; gives where they are, for the pointer. */
function drawFlags(c, placed, layout) {
  c.font = font(11, 600);
  c.lineWidth = 1;
  for (const { flag, x, row } of placed) {
    const middles = flag.nodes.map((node) => middleOf(layout, node)).filter((middle) => middle !== null);
    c.strokeStyle = flag.isBad ? ink.bad : ink.fault;
    c.setLineDash([3, 2]);
    c.beginPath();
    c.moveTo(x, row < 0 ? layout.rail - 4 : (row + 1) * FLAG);
    c.lineTo(x, Math.max(layout.rail, ...middles) - (flag.isBad ? 12 : 6));
    c.stroke();
  }
  c.setLineDash([]);
  const shown = placed.filter(({ row }) => row >= 0);
  for (const { flag, left, width, text, row } of shown) {
    const top = row * FLAG + 1;
    c.fillStyle = ink.surface;
    c.beginPath();
    c.roundRect(left, top, width, FLAG - 2, 3);
    c.fill();
    c.fillStyle = flag.isBad ? ink["bad-wash"] : ink["fault-wash"];
    c.fill();
    c.strokeStyle = flag.isBad ? ink.bad : ink.fault;
    c.stroke();
    c.fillStyle = flag.isBad ? ink.bad : ink.fault;
    c.fillText(text, left + 6, top + FLAG / 2 - 0.5);
  }
  return shown.map(({ flag, left, width, row }) => ({ x: left + width / 2, y: row * FLAG + 9, event: flag.event, width }));
}
