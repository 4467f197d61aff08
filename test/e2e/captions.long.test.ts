import fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { toWebVtt } from "../../src/results/transcripts/transcripts.webvtt.ts";
import { type Cue, cuesOf, hostileTranscript } from "../unit/support/hostile_speech.ts";
import { CHROMIUM, launchBrowser } from "./support/browser.ts";
import { anOrganization } from "./support/organization.ts";

describe.skipIf(!CHROMIUM)("A transcript as WebVTT, in a real browser", () => {
  const { url } = inject("sharedServer");
  let browser: Browser;
  let page: Page;
  let file: { contentType: string; body: string };

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.addInitScript({ path: "test/e2e/support/in_page.js" });
    await page.route("https://player.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
    );
    await page.route("https://player.test/captions.vtt", (route) => route.fulfill(file));
    await page.goto("https://player.test/");
  });

  afterAll(() => browser?.close());

  function read(contentType: string, body: string) {
    file = { contentType, body };
    return page.evaluate<Cue[]>("inPage.cuesOf('/captions.vtt')");
  }

  it("has the reported lines, whatever they contain", async () => {
    const clinic = await anOrganization(url);
    const room = { name: "Cardiology", is_active: true };
    const { slug } = (await clinic.external("POST", "/waiting_rooms", { waiting_room: room })).body;
    const names = { rita: "Rita <R&D> --> Recipient", paula: 'Dr. Paula &amp; "Co" <v Nobody>' };
    const joined_at = "2026-01-31T09:30:00Z";
    const key = `captions-${crypto.randomUUID()}`;
    const call = {
      waiting_room_slug: slug,
      organization_user_id: clinic.user.id,
      started_at: joined_at,
      ended_at: "2026-01-31T11:00:00Z",
      participants: Object.entries(names).map(([who, display_name]) => ({
        ...{ key: `${who}-${key}`, display_name, role: "recipient", joined_at, recording_consent: true },
      })),
    };
    const reported = await clinic.platform("PUT", `${clinic.base}/calls/${key}`, { call });
    const said: [who: keyof typeof names, start: number, end: number, text: string][] = [
      ["paula", 0, 1.5, "5 < 6 && 7 > 6 --> true"],
      ["rita", 2, 2.0004, "<b>No</b> &lt;b&gt; & no </v><v Eve>"],
      ["paula", 59.9996, 61, "One line,\nanother,\r\n\r\nand one after an empty line.\n\n\n"],
      ["rita", 3599.999, 3600, "\n\n00:00:01.000 --> 00:00:02.000\nNOTE no cue\n\nSTYLE"],
      ["rita", 5000, 5000, " NOTE: ünïcödé 汉 😀 &#10; &nbsp; "],
    ];
    const lines = said.map(([who, start_time, end_time, text]) => ({
      ...{ participant_key: `${who}-${key}`, text, start_time, end_time },
    }));
    const transcript = { summary: "None --> here.", is_final: true, lines };
    expect(
      (await clinic.platform("PUT", `${clinic.base}/calls/${key}/transcript`, { transcript })).status,
    ).toBe(200);
    const response = await fetch(
      `${url}/api/external/organization_users/${clinic.user.id}/calls/${reported.body.id}/transcript`,
      { headers: { ...clinic.credentials, Accept: "text/vtt" } },
    );
    expect(response.status).toBe(200);
    const cues = await read(response.headers.get("Content-Type") ?? "", await response.text());
    expect(cues.map(({ voice, text }) => ({ voice, text }))).toEqual(
      said.map(([who, , , text]) => ({ voice: names[who], text: text.replaceAll("\r\n", "\n") })),
    );
    expect(cues.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
      [0, 1.5],
      [2, 2.001],
      [60, 61],
      [3599.999, 3600],
      [5000, 5000.001],
    ]);
  });

  it("is read as intended, whatever its names and texts", async () => {
    await fc.assert(
      fc.asyncProperty(hostileTranscript, async (transcript) => {
        expect(await read("text/vtt", [...toWebVtt(transcript)].join(""))).toEqual(cuesOf(transcript));
      }),
      { numRuns: 400 },
    );
  });

  it("can have lines at any time", async () => {
    const times = [0, 0.0001, 1 / 3, 3600, 360_000, 1e9, 1e12, 1e16, 1e21, Number.MAX_VALUE];
    const lines = times.map((time, n) => ({
      ...{ id: n + 1, speaker_id: 1, text: String(n), start_time: time, end_time: time },
    }));
    const cues = await read("text/vtt", [...toWebVtt({ lines, names: new Map() })].join(""));
    expect(cues.map(({ text }) => text)).toEqual(times.map((_, n) => String(n)));
    const starts = cues.map(({ startTime }) => startTime);
    expect(starts.slice(0, 7)).toEqual([0, 0, 0.333, 3600, 360_000, 1e9, 1e12]);
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    for (const { startTime, endTime } of cues) expect(endTime).toBeGreaterThan(startTime);
  });
});
