// Elements made by hand. All text goes in as text, so nothing in a record is ever markup.

/** An element with `props` (attributes, or `text`, or `on…` listeners) and children. */
function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  element.append(...children.filter(isThere));
  return element;
}

const isThere = (child) => child !== null && child !== undefined && child !== false;

/** `element` with these children in place of what it had; what is null is left out. */
function fill(element, ...children) {
  element.replaceChildren(...children.filter(isThere));
  return element;
}

/** The element of the page with this id. */
const byId = (id) => document.getElementById(id);

/** Text that people wrote: it keeps its own direction, and can't turn what stands beside it. */
const theirs = (text) => el("bdi", { text });

/** Runs `work` once before the next frame, however often it is asked for. */
function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** The first index of the sorted `list` whose value isn't below `value`. */
function lowerBound(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `text` cut to `most` characters. */
const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
