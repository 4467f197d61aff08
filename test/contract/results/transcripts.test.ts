import { describe, expect, it } from "vitest";
import { malformedPaths } from "../../worker/support/calls.ts";
import { expectRefusal } from "../../worker/support/expectations.ts";
import { given } from "../../worker/support/organization.ts";
import { aCallToTranscribe, aDraft, says } from "../../worker/support/transcripts.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";

describe("Transcript", () => {
  it("transcript_lines: array of transcript line, ordered by start_time ascending", async () => {
    const { call, paula, rita, read } = await aCallToTranscribe();
    // Some lines follow each other without a pause, and some take no time.
    const inOrder = [
      says(rita, 0, 0.3, "one"),
      says(paula, 0.333, 1, "two"),
      says(rita, 1, 1, "three"),
      says(paula, 1, 2, "four"),
      says(rita, 2, 2, "five"),
      says(paula, 3599.999, 12_345.679, "six"),
    ];
    const lines = [5, 1, 3, 0, 4, 2].map((n) => inOrder[n]);
    const shown = inOrder.map(({ participant_key: _, ...line }) => line);
    const reported = await given(call.reportTranscript({ is_final: false, lines }));
    for (const { transcript_lines } of [reported, (await read()).body])
      expect(transcript_lines).toMatchObject(shown);
  });
});

describe("Transcript line", () => {
  it("display_name: speaker's display name, taken from the call's participant records (providers and recipients)", async () => {
    const { call, paula, rita, read } = await aCallToTranscribe();
    await given(call.reportTranscript({ is_final: true, lines: [says(paula, 0, 1), says(rita, 1, 2)] }));
    await given(call.report({ participants: [{ key: rita.key, display_name: "Rita" }] }));
    const names = [{ display_name: "Paula Provider" }, { display_name: "Rita" }];
    expect((await read()).body.transcript_lines).toMatchObject(names);
  });

  const FAULTS: [string, ...[number, number][]][] = [
    ["a line that ends before it starts", [2, 1.999]],
    ["lines that overlap", [0, 2], [1.999, 3]],
    ["lines that overlap, in reverse", [1.999, 3], [0, 2]],
    ["a line within another", [0, 10], [4, 5]],
    ["a moment within a line", [0, 10], [4, 4]],
    ["lines with the same times", [0, 1], [0, 1]],
    ["a line that overlaps one before the last", [0, 10], [10, 10], [9, 9.5]],
  ];

  it.each(FAULTS)(
    "Lines are sequential and non-overlapping: a report is refused, and changes nothing, with %s",
    async (_, ...times) => {
      const { call, draft, paula, rita } = await aDraft();
      const lines = times.map(([from, to], n) => says(n % 2 ? rita : paula, from, to));
      // `summary` is a valid change, which would be noticed.
      const changed = { ...draft, summary: "Changed.", lines };
      const refused = await changingNothing(() => call.reportTranscript(changed));
      expectRefusal(refused, 422, /transcript\.lines/);
    },
  );
});

describe("GET /organization_users/{organization_user_id}/calls/{call_id}/transcript", () => {
  it("Path: organization_user_id (integer), call_id (integer).", async () => {
    const { clinic, call } = await aDraft();
    for (const path of malformedPaths(call))
      expectRefusal(await changingNothing(() => clinic.client.get(`${path}/transcript`)), 404);
  });

  it("Response: transcript object.", async () => {
    const { call, paula, rita, read } = await aCallToTranscribe();
    const reported = await call.reportTranscript({
      summary: "A greeting,\nand an answer.",
      is_final: true,
      lines: [says(paula, 0, 1.5, "Good morning."), says(rita, 2.25, 60, " Doctor. ")],
    });
    const id = expect.any(Number);
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      summary: "A greeting,\nand an answer.",
      is_final: true,
      transcript_lines: [
        { id, text: "Good morning.", start_time: 0, end_time: 1.5, display_name: "Paula Provider" },
        { id, text: " Doctor. ", start_time: 2.25, end_time: 60, display_name: "Rita Recipient" },
      ],
    });
    expect(reported).toMatchObject({ status: 200, body });
  });
});
