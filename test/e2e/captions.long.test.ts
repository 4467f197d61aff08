import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { toWebVtt } from "../../src/results/transcripts/transcripts.webvtt.ts";
import { type Cue, cuesOf, hostileTranscript } from "../unit/support/hostile_speech.ts";
import { CHROMIUM, launchBrowser } from "./support/browser.ts";

it.skipIf(!CHROMIUM)(
  "A transcript as WebVTT is read as intended in a real browser, whatever its names and texts",
  async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
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
  },
);
