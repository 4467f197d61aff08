import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

if (!CHROMIUM)
  process.stdout.write("Skipped: nothing is read in a browser, because Chromium is not installed.\n");

/** A real browser that makes requests only for the pages that it opens. */
export const launchBrowser = () =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
