import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { throughStrictDatabase } from "../support/strict_database.ts";
import { says, type TranscriptBody, texts } from "../support/transcripts.ts";
import { changingNothing, leavingNoRows } from "../support/unchanged.ts";

const LIMIT = 1024 * 1024;

const REASON = "Misheard";

type Line = ReturnType<typeof says>;

const linesOf = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => says({ key: "p" }, n, n + 0.5, text(n)));

/** An ended call with one participant, whose key is short, so that the largest body holds much text. */
async function aCallOfP() {
  const clinic = await anOrganization();
  leavingNoRows(clinic.id, "call_texts");
  const call = await aCall(clinic, { participants: [aRecipient({ key: "p" })] });
  const path = `${call.path}/transcript`;
  return {
    ...{ clinic, call, path },
    report: (transcript: object) =>
      platform.through(throughStrictDatabase).put(`${call.url}/transcript`, { transcript }),
    correct: (transcript: object) =>
      clinic.client
        .through(throughStrictDatabase)
        .put(path, { transcript: { ...transcript, reason: REASON } }),
    read: () => given(clinic.client.through(throughStrictDatabase).get(path)),
  };
}

/** 200 lines whose texts have this many bytes in total. */
const linesOfSize = (bytes: number) => linesOf(200, (n) => "x".repeat(Math.floor((bytes + n) / 200)));

/** The size that `requireReportable` counts for these lines and a null summary. */
const sizeOf = (lines: Line[]) =>
  lines.reduce((size, { participant_key: _, ...line }) => size + JSON.stringify(line).length, "null".length);

/** Lines of exactly this counted size. */
function linesThatCount(size: number) {
  const lines = linesOfSize(size - sizeOf(linesOfSize(0)));
  expect(sizeOf(lines)).toBe(size);
  return lines;
}

const TOO_LONG =
  "transcript: summary and lines must take at most 1 MiB as JSON, including earlier reports and corrections that still apply";

describe("The body of PUT …/transcript and PUT …/soap_note", () => {
  it("may have 1 MiB, and not a byte more", async () => {
    const { call, report, read } = await aCallOfP();
    const lines = linesOfSize(1_000_000);
    const body = JSON.stringify({ transcript: { is_final: true, lines } });
    const send = (bytes: number) => platform.send("PUT", `${call.url}/transcript`, body.padEnd(bytes, " "));
    expectRefusal(
      await changingNothing(() => send(LIMIT + 1)),
      413,
      "The request body is larger than 1,048,576 bytes",
    );
    await given(send(LIMIT));
    expect(texts(await read())).toEqual(lines.map(({ text }) => text));
    await given(report({ is_final: true, lines }));
  });

  it("has the same limit for corrections", async () => {
    const { clinic, call, path, report } = await aCallOfP();
    await given(report({ is_final: true, lines: [] }));
    await given(call.reportSoapNote({ is_final: true, text: "Plan: 0" }));
    for (const [url, correction] of [
      [path, { transcript: { summary: "Plan: 1", reason: REASON } }],
      [`${call.path}/soap_note`, { soap_note: { text: "Plan: 1", reason: REASON } }],
    ] as const) {
      const send = (bytes: number) =>
        clinic.client.send("PUT", url, JSON.stringify(correction).padEnd(bytes, " "));
      expectRefusal(await changingNothing(() => send(LIMIT + 1)), 413);
      await given(send(LIMIT));
    }
  });
});

describe("The size of a transcript", () => {
  it("is limited to 1 MiB over several partial reports", async () => {
    const { report, read } = await aCallOfP();
    const summary = "s".repeat(100_000);
    const lines = linesThatCount(LIMIT + "null".length - `"${summary}"`.length);
    const reported = await given(report({ is_final: true, lines }));
    expectRefusal(await changingNothing(() => report({ summary: `${summary}s` })), 422, TOO_LONG);
    expect(await given(report({ summary }))).toEqual({ ...reported, summary });
    expect(await read()).toEqual({ ...reported, summary });
  });

  it("is limited to 1 MiB after corrections of lines and of the summary", async () => {
    const { report, correct, read } = await aCallOfP();
    // The speakers' keys are in the body, but do not count.
    const { transcript_lines } = await given(report({ is_final: true, lines: linesThatCount(LIMIT - 4700) }));
    const [{ id, text }] = transcript_lines;
    const lines = (more: number) => [{ id, text: text + "y".repeat(more) }];
    for (const tooLong of [
      { lines: lines(4701) },
      { summary: "s".repeat(4703) },
      { summary: "ss", lines: lines(4701) },
    ])
      expectRefusal(await changingNothing(() => correct(tooLong)), 422, TOO_LONG);
    await given(correct({ lines: lines(4700) }));
    expect(texts(await read())[0]).toBe(text + "y".repeat(4700));
  });

  it("lets one correction change everything, even 10,000 lines", async () => {
    for (const lines of [linesThatCount(LIMIT - 4700), linesOf(10_000, () => "Five.")]) {
      const { report, correct, read } = await aCallOfP();
      const { transcript_lines } = await given(report({ is_final: true, lines }));
      const corrected = transcript_lines.map(({ id }: { id: number }) => ({ id, text: "Two." }));
      await given(correct({ lines: corrected }));
      const shown: TranscriptBody = await read();
      expect(shown.transcript_lines).toEqual(
        transcript_lines.map((line: object) => ({ ...line, text: "Two." })),
      );
      if (lines.length === 10_000)
        expectRefusal(
          await changingNothing(() => correct({ lines: [...corrected, corrected[0]] })),
          422,
          "transcript.lines: must hold at most 10,000 lines",
        );
    }
  });
});

it.each([
  ["🩺", 200_000],
  ["\u001b", 170_000],
])(
  "PUT …/calls/{key}/soap_note can change even the longest note: %j, %i times",
  async (character, length) => {
    const { clinic, call } = await aCallOfP();
    const report = (soap_note: object) =>
      platform.through(throughStrictDatabase).put(`${call.url}/soap_note`, { soap_note });
    const text = `${character.repeat(length - 1)}A`;
    await given(report({ text, is_final: false }));
    await given(report({ text: text.replace("A", "B") }));
    await given(report({ is_final: true }));
    const note = await given(clinic.client.get(`${call.path}/soap_note`));
    expect(note.text === text.replace("A", "B")).toBe(true);
  },
);
