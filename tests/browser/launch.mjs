// A headless Chromium that asks nobody for anything.

import { chromium } from "playwright-core";

const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export const launch = () =>
  chromium.launch({ executablePath: process.env.HOLDOVER_CHROMIUM ?? "/usr/bin/chromium", args: QUIET });

/** Waits until the page has drawn what it was told to. */
export const settled = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
