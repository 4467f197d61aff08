import { expect, it } from "vitest";
import { TRANSCRIPT_VERSIONS_PAGE } from "../../../src/limits.ts";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { says } from "../support/transcripts.ts";

const REASON = "The dose was misheard";

it("GET …/transcript/versions of a long transcript returns pages of about 1 MiB, since each version is the whole transcript", async () => {
  const clinic = await anOrganization();
  const visit = await aCall(clinic);
  const said = (n: number) => `${n}`.padEnd(9999, "o");
  const lines = Array.from({ length: 40 }, (_, n) => says(visit.participants[0], n, n + 1, said(0)));
  const reported = await given(visit.reportTranscript({ is_final: true, lines }));
  const [{ id }] = reported.transcript_lines;
  for (let n = 1; n <= 8; n++) {
    const transcript = { lines: [{ id, text: said(n) }], reason: REASON };
    await given(clinic.client.put(`${visit.path}/transcript`, { transcript }));
  }
  const pages: number[][] = [];
  let after: number | null = 9;
  while (after !== null) {
    const page = await given(clinic.client.get(`${visit.path}/transcript/versions?after=${after}`));
    const size = JSON.stringify(page).length;
    expect(size).toBeLessThan(TRANSCRIPT_VERSIONS_PAGE + size / page.versions.length);
    for (const { version, transcript_lines } of page.versions)
      expect(transcript_lines.map(({ text }: { text: string }) => text)).toEqual([
        said(version - 1),
        ...Array(39).fill(said(0)),
      ]);
    pages.push(page.versions.map(({ version }: { version: number }) => version));
    after = page.next_after;
  }
  expect(pages).toEqual([
    [8, 7, 6],
    [5, 4, 3],
    [2, 1],
  ]);
  const { versions } = await given(clinic.client.get(`${visit.path}/transcript/versions`));
  expect(versions).toHaveLength(3);
});

/** 199,999 characters of three bytes each. */
const LONG = "語".repeat(199_999);

it("PUT …/calls/{call_id}/soap_note with long texts is refused once corrections have replaced 4 MiB in all", async () => {
  const clinic = await anOrganization();
  const visit = await aCall(clinic);
  await given(visit.reportSoapNote({ is_final: true, text: "Plan" }));
  const path = `${visit.path}/soap_note`;
  const correct = (n: number) =>
    clinic.client.put(path, { soap_note: { text: `${n % 10}${LONG}`, reason: REASON } });
  let n = 0;
  let answer = await correct(n);
  while (answer.status === 200) answer = await correct(++n);
  expectRefusal(answer, 422, /replacing at most 4 MiB in all$/);
  expect((await given(clinic.client.get(`${path}/versions`))).versions).toHaveLength(n);
  // The first correction replaced a short text.
  expect(n).toBe(7);
});
