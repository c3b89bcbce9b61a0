// How long a report takes to open, and how long a task keeps it from answering: node measure.mjs REPORT.html

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { WIDE, launch, settled } from "./launch.mjs";

const report = resolve(process.argv[2]);
const browser = await launch();
const page = await browser.newPage({ viewport: WIDE, offline: true });
await page.addInitScript(() => {
  window.long = [];
  const note = (list) => list.getEntries().forEach(({ duration }) => window.long.push(Math.round(duration)));
  new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
});

const begun = performance.now();
await page.goto(pathToFileURL(report).href);
await page.waitForSelector("html[data-ready]");
await settled(page);
const opened = performance.now() - begun;
const events = await page.evaluate(() =>
  JSON.parse(document.querySelector("#record").textContent).runs.map((run) => run.events.node.length),
);
const row = (what, ...cells) => console.log(what.padEnd(34), ...cells);
row("size", `${(statSync(report).size / 1e6).toFixed(1)} MB, events ${events.join(" + ")}`);
row("opened and drawn after", `${Math.round(opened)} ms`);
await page.evaluate(() => window.long.splice(0));

/** Does something and tells which tasks took longer than 50 ms meanwhile. */
async function watch(what, work) {
  await work();
  await page.waitForTimeout(200);
  const long = await page.evaluate(() => window.long.splice(0));
  row(what, long.length === 0 ? "no task of 50 ms or more" : `tasks of ${long.join(", ")} ms`);
}

async function often(times, work) {
  for (let i = 0; i < times; i++) {
    await work(i);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

const plot = await page.locator(".plot").first().boundingBox();
await page.mouse.move(plot.x + plot.width / 2, plot.y + 80);
await watch("all of it in the picture", () => page.keyboard.press("0"));
await watch("moving the picture (wheel)", () => often(60, (i) => page.mouse.wheel(i < 30 ? 120 : -120, 0)));
await watch("zooming in and out (keys)", () => often(60, (i) => page.keyboard.press(i % 30 < 15 ? "+" : "-")));
await watch("stepping through the story", () => often(60, () => page.keyboard.press("n")));
await watch("stepping through all events", () => often(60, () => page.keyboard.press("]")));
await watch("scrolling the page", () => often(60, (i) => page.mouse.wheel(0, i < 30 ? 300 : -300)));
await watch("every event in the table", () => page.check("#all-events"));
await watch("turning its pages", () => often(20, () => page.evaluate(() => document.querySelector("#page-back").click())));
await watch("searching all events", () => page.fill("#search", "operation 99"));
await browser.close();
