// Reports of other kinds: long ones, hostile ones, quiet ones, on paper and on phones, and for those who can't see them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { PHONE, WIDE, press, settled, textOf, withReport } from "./browser.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds, each with where. */
async function findings(page) {
  // The page's policy lets no script in, so it comes in through the debugger, which no policy holds up.
  await page.evaluate(AXE + "; undefined");
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target }) => target.join(" ")).slice(0, 4).join(" | ")}`);
}

const APPEARANCES = [
  { viewport: WIDE, colorScheme: "light" },
  { viewport: WIDE, colorScheme: "dark" },
  { viewport: PHONE, colorScheme: "light" },
  { viewport: PHONE, colorScheme: "dark" },
];

test("axe finds nothing, in light and dark, wide and narrow", async () => {
  for (const appearance of APPEARANCES) {
    await withReport("incident.html", appearance, async (page) => {
      assert.deepEqual(await findings(page), []);
      await press(page, "?");
      assert.deepEqual(await findings(page), []);
    });
  }
  await withReport("hostile.html", {}, async (page) => assert.deepEqual(await findings(page), []));
});

test("axe would find what is wrong", () =>
  withReport("quiet.html", {}, async (page) => {
    await page.evaluate(() => document.querySelector("#search").removeAttribute("aria-label"));
    await page.evaluate(() => document.querySelector("#search").removeAttribute("placeholder"));
    assert.match((await findings(page)).join("\n"), /critical label: #search/);
  }));

test("nothing is wider than a phone", async () => {
  for (const name of ["incident.html", "hostile.html", "long.html", "quiet.html"]) {
    await withReport(name, { viewport: PHONE }, async (page) => {
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, name);
    });
  }
});

test("hostile texts are texts", () =>
  withReport("hostile.html", {}, async (page) => {
    const hostile = JSON.parse(readFileSync(`${process.env.HOLDOVER_REPORTS}/hostile.json`, "utf8"));
    const has = async (selector, text) =>
      assert.ok((await page.locator(selector).allTextContents()).some((shown) => shown.includes(text)), `${selector}: ${text}`);
    await has("h1", hostile.title);
    await has("title", hostile.title);
    await has("#story-told", hostile.story);
    await has("#command", hostile.command);
    for (const note of hostile.notes) {
      await has("#faults .planned", note);
      await page.check("#all-events");
      await has("#story .what", note);
    }
    for (const name of hostile.workers) {
      await has(".label", name);
      await has("#clocks th", name);
    }
    // All that they are made of is there as text alone.
    assert.equal(await page.locator("img, b b, script:not(#record):not([src]) ~ script ~ script, iframe, object, marquee").count(), 0);
    assert.equal(await page.evaluate(() => window.hostile), undefined);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(width, WIDE.width);
    await press(page, "0", "+", "n", "w", "2", "?");
  }));

test("a run in which nothing happens has a report", () =>
  withReport("quiet.html", {}, async (page) => {
    assert.match(await textOf(page, ".card >> nth=0"), /held all \d+ rules no stale write was tried/);
    assert.match(await textOf(page, "#story"), /nothing to explain/);
    await press(page, "w", "s", "n", "p", "]", "[", "0", "f", "t");
    assert.match(await textOf(page, "#faults"), /No faults are planned/);
  }));

test("a report of a hundred thousand events draws what can be seen", () =>
  withReport("long.html", {}, async (page) => {
    const events = await page.evaluate(() => JSON.parse(document.querySelector("#record").textContent).runs[0].events.node.length);
    assert.ok(events >= 100_000, `${events} events`);
    await page.check("#all-events");
    await page.waitForFunction(() => document.querySelector("#found").textContent !== "…");
    await press(page, "0", "+", "+", "l", "]", "]", "w");
    assert.equal(await page.locator("#rows tr").count(), 60);
    assert.ok((await page.locator("*").count()) < 2_500);
    await page.fill("#search", "op=1999 ");
    await page.press("#search", "Enter");
    await settled(page);
    assert.match(await textOf(page, "#event"), /op=1999/);
    await page.waitForFunction(() => document.querySelector("#found").textContent !== "…");
    assert.match(await textOf(page, "#found"), /^[1-9][\d,]* rows, without points$/);
  }));

test("a repair is told operation by operation, and each payout leads to where it was made", () =>
  withReport("repair.html", {}, async (page) => {
    assert.match(await textOf(page, ".card"), /repaired: each has one standing entry and one effect; nothing is unresolved/);
    assert.ok((await page.locator(".panel .label").allInnerTexts()).includes("operator"));
    const operation = page.locator(".operations > li", { hasText: "operation 11 (1,667.03)" });
    assert.match(await operation.innerText(), /refunded by operator/);
    assert.match(await textOf(page, ".figures >> nth=1"), /difference to the ledger 0\.00/);
    await operation.getByRole("link", { name: "payout 12" }).click();
    await settled(page);
    assert.match(await textOf(page, "#event"), /^PAID TWICE: operation 11/);
    assert.deepEqual(await findings(page), []);
  }));

test("on paper it is A4 on its side, with the pictures and the timelines", () =>
  withReport("incident.html", { colorScheme: "dark" }, async (page) => {
    const paper = (await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString("latin1");
    const sizes = [...paper.matchAll(/\/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, ...size]) => size.map(Number));
    assert.ok(sizes.length >= 3 && sizes.length <= 14, `${sizes.length} pages`);
    for (const [width, height] of sizes) assert.deepEqual([Math.round(width), Math.round(height)], [842, 595]);
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.locator("#paper-runs table").count(), 2);
    assert.match(await textOf(page, "#paper-runs"), /STALE: worker-a's entry for operation 11 accepted/);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator("#paper-runs table").count(), 0);
  }));
