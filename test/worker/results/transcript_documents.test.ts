import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { spokenLines } from "../../support/speech.ts";
import { platform } from "../support/api.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { anOrganization, given } from "../support/organization.ts";
import { countingRows } from "../support/rows.ts";
import { throughStrictDatabase } from "../support/strict_database.ts";
import { aCallToTranscribe, ids, says, storedBytes, texts } from "../support/transcripts.ts";
import { leavingNoRows } from "../support/unchanged.ts";

const anHourOf = (speakers: readonly { key: string }[]) =>
  spokenLines(
    speakers.map(({ key }) => key),
    600,
  );

describe("A transcript of one hour", () => {
  it("takes at most 30 written rows to report, and 25 read rows to return with its access log entry", async () => {
    const clinic = await anOrganization();
    const participants = [1, 2, 3].map(() => aRecipient());
    const call = await aCall(clinic, { participants });
    // If other rows follow in an index, SQLite reads one more row to find the end of the call's own.
    const next = await aCall(clinic);
    await given(next.reportTranscript({ is_final: true, lines: [] }));
    const counting = countingRows();
    const client = clinic.client.through(counting.fetcher);
    await given(client.get("/roles"));
    const url = `${call.url}/transcript`;
    const report = (transcript: object) =>
      counting.during(() => given(platform.through(counting.fetcher).put(url, { transcript })));
    const lines = anHourOf(participants);
    expect((await report({ is_final: false, lines })).rows_written).toBeLessThanOrEqual(30);
    expect((await report({ lines: lines.slice(1) })).rows_written).toBeLessThanOrEqual(30);
    expect((await report({ lines: lines.slice(1) })).rows_written).toBe(0);

    const { result, rows_read } = await counting.during(() => given(client.get(`${call.path}/transcript`)));
    expect(result.transcript_lines).toHaveLength(599);
    expect(rows_read).toBeLessThanOrEqual(25);
  });

  it("is stored in fewer bytes than its text has", async () => {
    const { call } = await aCallToTranscribe();
    const lines = anHourOf(call.participants);
    await given(call.reportTranscript({ is_final: true, lines }));
    const text = lines.map((line) => line.text).join("");
    expect(text.length).toBeGreaterThan(50_000);
    expect(await storedBytes(call)).toBeLessThan(28_000);
  });
});

describe("PUT …/calls/{key}/transcript of the maximum size", () => {
  const BODY_LIMIT = 1024 * 1024;

  /** Random characters that take the given number of bytes in UTF-8. */
  const FROM: Record<number, [first: number, count: number]> = {
    1: [0x23, 57],
    2: [0xa1, 1800],
    3: [0x3400, 28_000],
    4: [0x1_0000, 0x1_0000],
  };

  const noise = (bytes: number, length: number) => {
    const [first, count] = FROM[bytes] as [number, number];
    const next = () => String.fromCodePoint(first + Math.floor(Math.random() * count));
    return Array.from({ length }, next).join("");
  };

  const sizeOf = (body: object) => new TextEncoder().encode(JSON.stringify(body)).length;

  it.each([
    [1, 10_000, 103],
    [2, 10_000, 51],
    [3, 10_000, 34],
    [4, 10_000, 26],
    [1, 35, 10_000],
  ])("stores random characters of %i bytes exactly, in lines of %i", async (bytes, length, count) => {
    const clinic = await anOrganization();
    leavingNoRows(clinic.id, "call_texts");
    const call = await aCall(clinic, { participants: [aRecipient({ key: "p" })] });
    const all = noise(bytes, length * count);
    const perLine = all.length / count;
    const lines = Array.from({ length: count }, (_, n) =>
      says({ key: "p" }, n, n, all.slice(n * perLine, (n + 1) * perLine)),
    );
    const transcript = { is_final: true, lines };
    expect(sizeOf({ transcript })).toBeLessThanOrEqual(BODY_LIMIT);
    expect(sizeOf({ transcript })).toBeGreaterThan(0.85 * BODY_LIMIT);
    const url = `${call.url}/transcript`;
    await given(platform.through(throughStrictDatabase).put(url, { transcript }));
    const read = await given(clinic.client.through(throughStrictDatabase).get(`${call.path}/transcript`));
    expect(texts(read).join("") === all).toBe(true);
    expect(new Set(ids(read)).size).toBe(count);
  });
});

it("The id of a transcript line is unique in the service, even if reports come at once", async () => {
  const clinic = await anOrganization();
  const calls = await Promise.all([1, 2, 3, 4, 5].map(() => aCall(clinic)));
  const grow = (length: number) =>
    Promise.all(
      calls.map((call) => {
        const lines = anHourOf(call.participants).slice(0, length);
        return given(call.reportTranscript({ is_final: false, lines }));
      }),
    );
  const before = await grow(20);
  const after = await grow(50);
  for (const [n, transcript] of after.entries()) expect(ids(transcript).slice(0, 20)).toEqual(ids(before[n]));
  expect(new Set(after.flatMap(ids)).size).toBe(5 * 50);
});

it("GET …/transcript returns a line without a name if the record of its speaker is gone", async () => {
  const { call, paula, read } = await aCallToTranscribe();
  // A participant without a consent decision, since the record of one with a decision cannot be deleted.
  const gone = aRecipient({ recording_consent: undefined });
  await given(call.report({ participants: [gone] }));
  const lines = [says(paula, 0, 1, "one"), says(gone, 1, 2, "two")];
  await given(call.reportTranscript({ is_final: true, lines }));
  await env.DB.prepare("delete from participants where key = ?").bind(gone.key).run();
  expect((await read()).body.transcript_lines).toMatchObject([
    { text: "one", display_name: "Paula Provider" },
    { text: "two", display_name: "" },
  ]);
});
