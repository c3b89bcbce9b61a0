// The incident's report, as those who look at it use it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, clockOf, press, settled, textOf, watched, withReport } from "./browser.mjs";

const REPORT = "incident.html";

test("what a page asks for from elsewhere, or complains about, is noticed", async () => {
  const { page, complaints, close } = await watched();
  await page.goto(addressOf("loud.html"));
  await page.waitForTimeout(200);
  assert.ok(complaints.some((one) => one.startsWith("request: http://127.0.0.1:9/")), String(complaints));
  assert.ok(complaints.some((one) => one.startsWith("console: ")), String(complaints));
  assert.ok(complaints.some((one) => one.startsWith("error: ")), String(complaints));
  await close();
});

test("the headline says what happened", () =>
  withReport(REPORT, {}, async (page) => {
    assert.equal(await textOf(page, "h1"), "A clock jump creates two lease holders");
    assert.match(await textOf(page, ".card.broke"), /worker-a went on writing after worker-b had taken over/);
    assert.match(await textOf(page, ".card.broke"), /9 stale writes accepted/);
    assert.match(await textOf(page, ".card.held"), /held all \d+ rules 1 stale write tried, none accepted/);
  }));

test("the keyboard goes to the first stale write and on to the fenced side", () =>
  withReport(REPORT, { hash: "#t=01:59:30" }, async (page) => {
    assert.equal(await textOf(page, "#instant"), "01:59:30.000000");
    await press(page, "w");
    assert.match(await textOf(page, "#event"), /^STALE: worker-a's entry for operation 11 accepted/);
    assert.match(await textOf(page, "#event"), /breaks single-writer, stale-write, nothing-lost/);
    assert.match(await textOf(page, "#instant"), /^02:00:28\.101/);
    assert.match(await clockOf(page, "worker-b"), /right thinks it holds lease 2/);
    assert.match(await textOf(page, "#said"), /STALE: worker-a's entry/);
    await press(page, "2");
    assert.equal(await textOf(page, "#instant-run"), "under fenced");
    assert.match(await textOf(page, "#event"), /^REJECTED: worker-a's entry for operation 11: its token 1 is below 2/);
    assert.equal(await page.getAttribute(".card.held", "aria-pressed"), "true");
    assert.match(await textOf(page, "#rows-caption"), /under fenced/);
    await press(page, "1", "ArrowRight");
    assert.match(await textOf(page, "#event"), /can't renew lease 1/);
    await press(page, "ArrowLeft");
    assert.match(await textOf(page, "#event"), /^STALE: worker-a's entry for operation 11/);
  }));

test("a step of the story moves the cursor, and worker-a's clock is then 420 ms behind", () =>
  withReport(REPORT, {}, async (page) => {
    const step = page.locator("#story button", { hasText: "FAULT 2: step of worker-a's wall clock by -420ms (NTP)" });
    await step.click();
    await settled(page);
    assert.equal(await textOf(page, "#instant"), "02:00:28.150000");
    assert.match(await clockOf(page, "worker-a"), /02:00:27\.730 420 ms behind/);
    assert.match(await clockOf(page, "worker-b"), /02:00:28\.150 right/);
    assert.equal(await step.getAttribute("aria-current"), "step");
    await press(page, "s");
    assert.match(await textOf(page, "#event"), /thinks that lease 1 is still valid/);
  }));

test("a link goes to its instant, and the address follows the cursor", () =>
  withReport(REPORT, { hash: "#t=02:00:28.15&run=fenced" }, async (page) => {
    assert.equal(await textOf(page, "#instant-run"), "under fenced");
    assert.equal(await textOf(page, "#instant"), "02:00:28.150000");
    assert.match(await textOf(page, "#event"), /FAULT: step of worker-a/);
    await press(page, "w");
    await press(page, "W");
    await page.waitForFunction(() => location.hash.includes("2026-01-15T02:00:28.101"));
    const there = await page.evaluate(() => location.hash);
    assert.match(there, /^#t=2026-01-15T02:00:28\.101\d{6}Z&run=fenced&event=\d+$/);
    await page.locator(".verdicts a").first().click();
    await settled(page);
    assert.equal(await textOf(page, "#instant-run"), "under naive");
    for (const odd of ["#t=soon", "#t=25:99:99", "#t=&event=1e99", "#t=+1.5&event=-1&run=<b>"]) {
      await page.evaluate((hash) => (location.hash = hash), odd);
      await settled(page);
    }
    assert.equal(await textOf(page, "#instant"), "01:59:31.500000");
  }));

test("the picture shows what is at the pointer, and a click goes there", () =>
  withReport(REPORT, {}, async (page) => {
    const ring = await page.evaluate(() => {
      const line = document.querySelector(".panel.current .cursor");
      const box = line.parentElement.getBoundingClientRect();
      const x = new DOMMatrix(getComputedStyle(line).transform).m41;
      return [box.left + x, box.top + parseFloat(line.style.getPropertyValue("--dot"))];
    });
    await press(page, "0", "f");
    await page.mouse.move(...ring);
    assert.match(await textOf(page, ".panel.current .tip"), /02:00:28\.101 STALE: worker-a's entry for operation 11/);
    await press(page, "n", "n", "n");
    await page.mouse.click(...ring);
    await settled(page);
    assert.match(await textOf(page, "#event"), /^STALE: worker-a's entry for operation 11/);
  }));

test("zooming and moving show other parts, with the same part of all runs", () =>
  withReport(REPORT, {}, async (page) => {
    const shown = () => page.evaluate(() => document.querySelector(".overview .window").style.cssText);
    const pictures = () =>
      page.evaluate(() => [...document.querySelectorAll(".plot canvas")].map((canvas) => canvas.toDataURL().slice(-400)));
    const seen = new Set();
    let before = await pictures();
    for (const key of ["0", "+", "+", "l", "h", "-", "f", "t"]) {
      await press(page, key);
      seen.add(await shown());
      const now = await pictures();
      if (key !== "h") assert.ok(now.every((picture, index) => picture !== before[index]), `${key} changes all pictures`);
      before = now;
    }
    assert.ok(seen.size >= 6, [...seen].join("\n"));
    const lines = await page.evaluate(() => [...document.querySelectorAll(".cursor")].map((line) => line.style.transform));
    assert.equal(new Set(lines).size, 1);
    await page.mouse.move(700, 450);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await settled(page);
    assert.ok(!seen.has(await shown()));
  }));

test("searching and filtering find and hide events", () =>
  withReport(REPORT, { hash: "#t=01:59:30" }, async (page) => {
    await press(page, "/");
    await page.keyboard.type("paid twice");
    await settled(page);
    assert.equal(await textOf(page, "#found"), "4 rows");
    await press(page, "Enter");
    assert.match(await textOf(page, "#event"), /^PAID TWICE: operation 11/);
    await press(page, "Enter");
    assert.match(await textOf(page, "#event"), /^PAID TWICE: operation 12/);
    await page.fill("#search", "");
    await page.check("#all-events");
    await settled(page);
    const all = await textOf(page, "#found");
    await page.click("#filters summary");
    await page.uncheck('#filter-groups label:has-text("messages") input');
    await settled(page);
    assert.notEqual(await textOf(page, "#found"), all);
    await page.uncheck('#filter-nodes label:has-text("provider") input');
    await settled(page);
    assert.deepEqual(await page.locator(".panel.current .label").allInnerTexts(), ["worker-a", "worker-b", "lease-store", "ledger"]);
  }));

test("the timeline is a table with a page at a time", () =>
  withReport(REPORT, {}, async (page) => {
    const table = page.getByRole("table", { name: "The events that tell the story under naive" });
    assert.equal(await table.getByRole("columnheader").count(), 5);
    assert.equal(await table.getByRole("row").count(), 1 + 45);
    await page.check("#all-events");
    await settled(page);
    assert.equal(await textOf(page, "#page"), "page 8 of 11");
    assert.equal(await page.locator("#rows tr").count(), 60);
    assert.match(await textOf(page, '#rows tr[aria-current="true"]'), /write-accepted|STALE/);
    await page.click("#page-on");
    assert.equal(await textOf(page, "#page"), "page 9 of 11");
  }));

test("light and dark are the system's, or what is chosen", async () => {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const seen = [];
  for (const colorScheme of ["light", "dark"]) {
    await withReport(REPORT, { colorScheme }, async (page) => {
      seen.push(await ground(page));
      await page.click("#theme");
      seen.push(await ground(page));
    });
  }
  const [light, toDark, dark, toLight] = seen;
  assert.notEqual(light, dark);
  assert.deepEqual([light, dark], [toLight, toDark]);
});

test("the help lists the keys, and they can be turned off", () =>
  withReport(REPORT, {}, async (page) => {
    await press(page, "?");
    assert.match(await textOf(page, "#help"), /next event of the story/);
    await page.uncheck("#keys-on");
    await page.click("#help-close");
    const before = await textOf(page, "#instant");
    await press(page, "n", "n");
    assert.equal(await textOf(page, "#instant"), before);
  }));
