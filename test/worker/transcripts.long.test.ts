import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { aCall, aRecipient } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given } from "./support/organization.ts";
import { throughStrictDatabase } from "./support/strict_database.ts";
import { aCallToTranscribe, says, texts } from "./support/transcripts.ts";
import { changingNothing, leavingNoRows } from "./support/unchanged.ts";

describe("A report of a transcript is refused, and changes nothing,", () => {
  it("with an answer of more than 16 MiB, of which each line repeats the name of its speaker", async () => {
    const clinic = await anOrganization();
    const speaker = aRecipient({ display_name: "é".repeat(255) });
    const call = await aCall(clinic, { participants: [speaker] });
    const linesOf = (count: number) => Array.from({ length: count }, (_, n) => says(speaker, n, n, "Hello."));
    const transcript = { is_final: false, lines: linesOf(29_000) };
    const refused = await changingNothing(() => call.reportTranscript(transcript));
    expectRefusal(refused, 422, /^transcript\.lines: must take at most 16777216 bytes of JSON/);
    const reported = await given(call.reportTranscript({ is_final: false, lines: linesOf(24_000) }));
    expect(JSON.stringify(reported).length).toBeGreaterThan(8_000_000);
    const summary = "\u0001".repeat(200_000);
    expect((await call.reportTranscript({ summary })).status).toBe(200);
  });

  it("with WebVTT of more than 16 MiB, of which each `&` takes five bytes", async () => {
    const clinic = await anOrganization();
    const speaker = aRecipient();
    const call = await aCall(clinic, { participants: [speaker] });
    const linesOf = (count: number) =>
      Array.from({ length: count }, (_, n) => says(speaker, n, n, "&".repeat(10_000)));
    const refused = await changingNothing(() =>
      call.reportTranscript({ is_final: false, lines: linesOf(340) }),
    );
    const text = /^transcript\.lines: must take at most 16777216 bytes of JSON, and of WebVTT/;
    expectRefusal(refused, 422, text);
    await given(call.reportTranscript({ is_final: false, lines: linesOf(330) }));
    const { status, body } = await clinic.client.send("GET", `${call.path}/transcript`, undefined, {
      Accept: "text/vtt",
    });
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(16_500_000);
  });
});

describe("A long transcript", () => {
  type Line = ReturnType<typeof says>;

  const lines = (count: number, text: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => says({ key: "p" }, n, n + 0.5, text(n)));

  it.each<[string, Line[]]>([
    ["lines of an ordinary length", lines(17_000, (n) => `${n}`.padEnd(110, "."))],
    ["lines of a word", lines(42_000, () => "Yes")],
    ["lines of characters that JSON escapes", lines(301, () => "\u001b".repeat(1_700))],
  ])("of 3 MB, in %s, is returned completely", { timeout: 60_000 }, async (_, lines) => {
    expect(new TextEncoder().encode(JSON.stringify(lines)).length).toBeGreaterThan(3_000_000);
    const clinic = await anOrganization();
    leavingNoRows(clinic.id, "call_texts");
    const call = await aCall(clinic, { participants: [aRecipient({ key: "p" })] });
    const report = () =>
      platform.through(throughStrictDatabase).put(`${call.url}/transcript`, {
        transcript: { summary: "Long.", is_final: true, lines },
      });

    const answer = await report();
    expect(answer.status).toBe(200);
    const { body } = await clinic.client.get(`${call.path}/transcript`);
    expect(body.transcript_lines.length).toBe(lines.length);
    expect(JSON.stringify(body)).toBe(JSON.stringify(answer.body));
    const shown = body.transcript_lines.map((line: Line) => [line.text, line.start_time, line.end_time]);
    const reported = lines.map((line) => [line.text, line.start_time, line.end_time]);
    expect(JSON.stringify(shown)).toBe(JSON.stringify(reported));

    const again = await report();
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(answer.body));
  });

  it("can have a summary of 200,000 characters and a line of 10,000, of any kind", async () => {
    const { clinic, call, paula, read } = await aCallToTranscribe();
    leavingNoRows(clinic.id, "call_texts");
    const transcript = {
      summary: "🩺".repeat(200_000),
      is_final: true,
      lines: [says(paula, 0, 1, "🩺".repeat(10_000))],
    };
    expect((await call.reportTranscript(transcript)).status).toBe(200);
    const { body } = await read();
    expect(body.summary === transcript.summary).toBe(true);
    expect(texts(body)[0] === transcript.lines[0]?.text).toBe(true);
  });
});
