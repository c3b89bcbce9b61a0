// From one event to the next, and finding events.

/** The rows of the current run that tell the story, as far as they are shown. */
function shownRows(run) {
  const rows = [];
  for (let row = 0; row < run.rowEvent.length; row++) {
    const event = run.rowEvent[row];
    if (isShown(run, event)) rows.push(row);
  }
  return rows;
}

/** The next or, with -1, the previous event of which the story tells. */
function step(way) {
  const run = currentRun();
  const here = position(run);
  const { rowEvent } = run;
  let row = lowerBound(rowEvent, here);
  if (way > 0) {
    if (row < rowEvent.length && rowEvent[row] <= here) row += 1;
  } else {
    row -= 1;
  }
  while (row >= 0 && row < rowEvent.length && !isShown(run, rowEvent[row])) row += way;
  if (row >= 0 && row < rowEvent.length) moveToEvent(run.index, rowEvent[row]);
}

/** The next or previous event for which `wanted` is true, and which is shown. */
function stepTo(way, wanted) {
  const run = currentRun();
  const here = position(run);
  let event = way > 0 ? Math.floor(here) + 1 : Math.ceil(here) - 1;
  while (event >= 0 && event < run.count && !(isShown(run, event) && wanted(run, event))) event += way;
  if (event >= 0 && event < run.count) moveToEvent(run.index, event);
}

/** The next or previous event of whatever kind. */
const stepAny = (way) => stepTo(way, () => true);

/** The next or previous event that went wrong: something stale, done twice, or turned away. */
const stepWrong = (way) => stepTo(way, (run, event) => run.mark[event] === STALE || run.mark[event] === REJECTED);

/** The event that the cursor is on; between two events half way to the one before. */
function position(run) {
  if (state.event !== null) return state.event;
  return run.from(Number(state.at)) - 0.5;
}

/** Whether what is searched for is in the text of event `i`. */
function matches(run, i, wanted) {
  const row = run.rowOf[i];
  return (row >= 0 && run.rowText.at(row).toLowerCase().includes(wanted)) || run.fields(i).toLowerCase().includes(wanted);
}

/** Moves to the next event with what is searched for; says whether there is one. */
function findNext(way) {
  const wanted = state.search.trim().toLowerCase();
  if (!wanted) return false;
  const run = currentRun();
  const here = position(run);
  let event = way > 0 ? Math.floor(here) + 1 : Math.ceil(here) - 1;
  for (let looked = 0; looked < run.count; looked++, event += way) {
    event = (event + run.count) % run.count;
    if (isShown(run, event) && matches(run, event, wanted)) {
      moveToEvent(run.index, event);
      return true;
    }
  }
  return false;
}
