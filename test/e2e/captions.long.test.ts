import fc from "fast-check";
import type { Browser } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { toWebVtt } from "../../src/results/transcripts/transcripts.webvtt.ts";
import { type Cue, cuesOf, hostileTranscript } from "../unit/support/hostile_speech.ts";
import { CHROMIUM, launchBrowser } from "./support/browser.ts";

describe.skipIf(!CHROMIUM)("A transcript as WebVTT, in a real browser", () => {
  let browser: Browser | undefined;
  afterAll(() => browser?.close());

  it("is read as intended, whatever its names and texts", async () => {
    browser = await launchBrowser();
    const page = await browser.newPage();
    let body = "";
    await page.addInitScript({ path: "test/e2e/support/in_page.js" });
    await page.route("https://player.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
    );
    await page.route("https://player.test/captions.vtt", (route) =>
      route.fulfill({ contentType: "text/vtt", body }),
    );
    await page.goto("https://player.test/");
    await fc.assert(
      fc.asyncProperty(hostileTranscript, async (transcript) => {
        body = [...toWebVtt(transcript)].join("");
        expect(await page.evaluate<Cue[]>("inPage.cuesOf('/captions.vtt')")).toEqual(cuesOf(transcript));
      }),
      { numRuns: 400 },
    );
  });
});
