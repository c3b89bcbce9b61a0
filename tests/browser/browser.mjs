// A headless Chromium without a network, and pages that must be quiet: what a page complains about or asks for from
// elsewhere is kept, and fails the test that opened it.

import assert from "node:assert/strict";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { WIDE, launch, settled } from "./launch.mjs";

export { PHONE, WIDE, settled } from "./launch.mjs";

const REPORTS = process.env.HOLDOVER_REPORTS;

/** Where a report is that the test's other half made. */
export const addressOf = (name) => pathToFileURL(join(REPORTS, name)).href;

/** The browser of all tests of a file. */
const browser = await launch();
after(() => browser.close());

/** A page that keeps what it complains about in `complaints`. */
export async function watched({ viewport = WIDE, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, offline: true });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.route("**", (route) => {
    const url = route.request().url();
    if (url.startsWith("file:") || url.startsWith("data:")) return route.continue();
    complaints.push(`request: ${url}`);
    return route.abort();
  });
  return { page, complaints, close: () => context.close() };
}

/** Opens a report, has `work` use it, and sees that it never complained. */
export async function withReport(name, options, work) {
  const { page, complaints, close } = await watched(options);
  await page.goto(addressOf(name) + (options.hash ?? ""));
  await page.waitForSelector("html[data-ready]");
  await settled(page);
  await work(page);
  assert.deepEqual(complaints, []);
  await close();
}

/** Presses keys one after the other. */
export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
}

/** The text of the only element that fits, its blanks put together. */
export async function textOf(page, selector) {
  return (await page.locator(selector).innerText()).replace(/\s+/g, " ").trim();
}

/** The row of the clocks at the cursor with this node. */
export const clockOf = (page, node) => textOf(page, `#clocks tr:has(bdi:text-is("${node}"))`);
