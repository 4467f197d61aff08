import { describe, expect, it } from "vitest";
import { entriesAbout } from "../support/access_logs.ts";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, STARTED_AT } from "../support/calls.ts";
import { countingRoundTrips } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { countingRows } from "../support/rows.ts";
import { aCallToTranscribe, says } from "../support/transcripts.ts";

/** The units test what captions look like, and which values of Accept prefer them. */
it("GET …/calls/{call_id}/transcript returns WebVTT if Accept prefers it to JSON, but errors as JSON", async () => {
  const { clinic, call, paula, read } = await aCallToTranscribe();
  await given(call.reportTranscript({ is_final: true, lines: [says(paula, 0, 1.5, "Is 5 < 6?")] }));
  const readAs = ({ client }: Organization, { path }: { path: string }, Accept: string) =>
    client.send("GET", `${path}/transcript`, undefined, { Accept });
  const json = (await read()).body;
  const vtt = "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Paula Provider>Is 5 &lt; 6?\n";
  for (const [Accept, expected, type] of [
    ["text/vtt, application/json;q=0.9", vtt, "text/vtt; charset=utf-8"],
    ["application/json, text/vtt", json, "application/json"],
  ] as const) {
    const { status, headers, body } = await readAs(clinic, call, Accept);
    expect([status, body, headers.get("Content-Type")]).toEqual([200, expected, type]);
    expect(headers.get("Vary")).toBe("Accept");
  }
  const ongoing = await aCall(clinic, { ended_at: null });
  await given(ongoing.reportTranscript({ is_final: true, lines: [] }));
  for (const [reader, path] of [
    [await anOrganization(), call],
    [clinic, ongoing],
  ] as const) {
    const refused = await readAs(reader, path, "text/vtt");
    expectRefusal(refused, 404, "Transcript not found");
    expect(refused.headers.get("Content-Type")).toMatch(/^application\/json/);
  }
});

describe("GET …/calls/{call_id}/transcript?egress_id=", () => {
  const later = (seconds: number) => new Date(Date.parse(STARTED_AT) + seconds * 1000).toISOString();

  async function aRecordedTalk(file: object = { started_at: later(62.25), duration: 837.5 }) {
    const scene = await aCallToTranscribe();
    const lines = [
      says(scene.paula, 0, 60, "Not recorded."),
      says(scene.rita, 61, 64.5, "Partly."),
      says(scene.paula, 65.125, 66, "Whole."),
      says(scene.rita, 899, 910, "Until the end."),
    ];
    await given(scene.call.reportTranscript({ is_final: true, lines }));
    const egress = await scene.call.addEgress(file);
    const ask = (egress_id: number | string, Accept = "text/vtt", { client } = scene.clinic) =>
      client.send("GET", `${scene.call.path}/transcript?egress_id=${egress_id}`, undefined, { Accept });
    return { ...scene, egress, ask };
  }

  it("moves captions to the recording's clock, within 100 ms, and cuts them at its start and end", async () => {
    const { egress, ask, clinic, call } = await aRecordedTalk();
    const { status, body, headers } = await ask(egress.id);
    expect([status, headers.get("Content-Type")]).toEqual([200, "text/vtt; charset=utf-8"]);
    expect(body).toBe(`WEBVTT

00:00:00.000 --> 00:00:02.250
<v Rita Recipient>Partly.

00:00:02.875 --> 00:00:03.750
<v Paula Provider>Whole.

00:13:56.750 --> 00:13:57.500
<v Rita Recipient>Until the end.
`);
    const whole = 2.875 * 1000 + Date.parse(egress.started_at);
    expect(Math.abs(whole - Date.parse(later(65.125)))).toBeLessThan(100);
    expect(await entriesAbout(clinic, "read", "transcript")).toMatchObject([{ call_id: call.id }]);
  });

  it("refuses recordings that cannot be read, of other calls, or whose start is unknown, and logs no read", async () => {
    const { clinic, call, egress, ask, rita } = await aRecordedTalk();
    const elsewhere = await (await aCall(clinic)).addEgress({ started_at: later(1) });
    const foreign = await (await aCall(await anOrganization())).addEgress({ started_at: later(1) });
    const unknown = await call.addEgress();
    for (const id of [elsewhere.id, foreign.id, 999_999_999])
      expectRefusal(await ask(id), 404, "Egress not found");
    const refused = await ask(unknown.id);
    expectRefusal(refused, 422, /^egress_id: /);
    expect(refused.headers.get("Error-Code")).toBe("recording_start_unknown");
    for (const id of ["x", "0"]) expectRefusal(await ask(id), 400, /^egress_id: /);
    const colleague = await clinic.addProvider();
    expectRefusal(
      await ask(egress.id, "text/vtt", { ...clinic, client: await clinic.addClient(colleague.id) }),
      404,
    );
    await given(call.report({ participants: [{ key: rita.key, recording_consent: false }] }));
    expectRefusal(await ask(egress.id), 404, "Egress not found");
    expect(await entriesAbout(clinic, "read", "transcript")).toEqual([]);
  });

  it("costs one round trip", async () => {
    const { clinic, call, egress } = await aRecordedTalk();
    const counting = countingRoundTrips();
    const client = clinic.client.through(counting.fetcher);
    await given(client.get("/roles"));
    const ask = () => given(client.get(`${call.path}/transcript?egress_id=${egress.id}`));
    expect(await counting.during(ask)).toBe(1);
  });
});

/** `test/unit/results/transcripts.merge.test.ts` covers all cases of a merge. */
it("PUT …/calls/{key}/transcript with many lines reads a few rows per line, however many people speak", async () => {
  const clinic = await anOrganization();
  const people = Array.from({ length: 100 }, () => aRecipient());
  const call = await aCall(clinic, { participants: people });
  const speaker = (n: number) => people[n % people.length] as { key: string };
  const lines = Array.from({ length: 2000 }, (_, n) => says(speaker(n), n, n + 0.5));
  const counting = countingRows();
  const report = () =>
    platform.through(counting.fetcher).put(`${call.url}/transcript`, {
      transcript: { is_final: false, lines },
    });
  const { rows_read } = await counting.during(() => given(report()));
  expect(rows_read).toBeLessThanOrEqual(10 * lines.length);
});
