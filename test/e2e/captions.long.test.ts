import fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toWebVtt } from "../../src/results/transcripts/transcripts.webvtt.ts";
import { type Cue, cuesOf, hostileTranscript } from "../unit/support/hostile_speech.ts";
import { CHROMIUM, launchBrowser } from "./support/browser.ts";

describe.skipIf(!CHROMIUM)("A transcript as WebVTT, in a real browser", () => {
  let browser: Browser;
  let page: Page;
  let body: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.addInitScript({ path: "test/e2e/support/in_page.js" });
    await page.route("https://player.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
    );
    await page.route("https://player.test/captions.vtt", (route) =>
      route.fulfill({ contentType: "text/vtt", body }),
    );
    await page.goto("https://player.test/");
  });

  afterAll(() => browser?.close());

  function read(file: string) {
    body = file;
    return page.evaluate<Cue[]>("inPage.cuesOf('/captions.vtt')");
  }

  it("is read as intended, whatever its names and texts", async () => {
    await fc.assert(
      fc.asyncProperty(hostileTranscript, async (transcript) => {
        expect(await read([...toWebVtt(transcript)].join(""))).toEqual(cuesOf(transcript));
      }),
      { numRuns: 400 },
    );
  });

  it("can have lines at any time", async () => {
    const times = [0, 0.0001, 1 / 3, 3600, 360_000, 1e9, 1e12, 1e16, 1e21, Number.MAX_VALUE];
    const lines = times.map((time, n) => ({
      ...{ id: n + 1, speaker_id: 1, text: String(n), start_time: time, end_time: time },
    }));
    const cues = await read([...toWebVtt({ lines, names: new Map() })].join(""));
    expect(cues.map(({ text }) => text)).toEqual(times.map((_, n) => String(n)));
    const starts = cues.map(({ startTime }) => startTime);
    expect(starts.slice(0, 7)).toEqual([0, 0, 0.333, 3600, 360_000, 1e9, 1e12]);
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    for (const { startTime, endTime } of cues) expect(endTime).toBeGreaterThan(startTime);
  });
});
