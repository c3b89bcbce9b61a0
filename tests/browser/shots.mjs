// Pictures of a report, to be looked at: node shots.mjs REPORT.html FOLDER [#t=…]

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { PHONE, WIDE, launch, settled } from "./launch.mjs";

const [report, folder, hash = ""] = process.argv.slice(2);
const browser = await launch();
for (const [name, viewport, colorScheme] of [
  ["light", WIDE, "light"],
  ["dark", WIDE, "dark"],
  ["phone", PHONE, "light"],
]) {
  const page = await browser.newPage({ viewport, colorScheme, offline: true });
  await page.goto(pathToFileURL(resolve(report)).href + hash);
  await page.waitForSelector("html[data-ready]");
  await settled(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  if (name === "light") await page.pdf({ path: join(folder, "paper.pdf"), preferCSSPageSize: true, printBackground: true });
  await page.close();
}
await browser.close();
