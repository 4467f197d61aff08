import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { EXPORTED_ROWS } from "../../../src/tuning.ts";
import { entriesOfRequest, withoutEntries } from "../support/access_logs.ts";
import type { Answer } from "../support/api.ts";
import { aCall, aProviderOnTheCall, aRecipient } from "../support/calls.ts";
import { digestOf, storedRows } from "../support/database.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { AUDIT_SIGNING_KEY } from "../support/seals.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { says } from "../support/transcripts.ts";
import { planVisit } from "../support/visits.ts";
import { throughWorkerWith } from "../support/worker.ts";

const pathOf = (reference: string) => `/participants/export?external_reference=${reference}`;

const askFor = ({ client }: Pick<Organization, "client">, reference: string) => client.get(pathOf(reference));

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The lines of a complete export by their type. */
function linesOf({ status, headers, body }: Answer) {
  expect([status, headers.get("Content-Type")]).toEqual([200, "application/x-ndjson"]);
  const texts: string[] = body.split(/(?<=\n)/);
  const lines = texts.map((line) => JSON.parse(line));
  const [first, ...others] = lines;
  const { sha256: digest, type, ...counts } = others.pop();
  expect([first.type, type, digest]).toEqual(["export", "end", sha256(texts.slice(0, -1).join(""))]);
  const of = (type: string) => others.filter((line) => line.type === type);
  const [calls, visits, access_logs] = [of("call"), of("visit"), of("access_log")];
  expect([...calls, ...visits, ...access_logs]).toEqual(others);
  expect(counts).toEqual({
    calls: calls.length,
    visits: visits.length,
    access_logs: access_logs.length,
  });
  return { first, calls, visits, access_logs };
}

const read = async (clinic: Organization, reference: string) => linesOf(await askFor(clinic, reference));

/** A call of a patient, with a provider and Otto, who is another patient. */
async function aSharedCall(clinic: Organization, external_reference: string, more: object = {}) {
  const participants = [
    aProviderOnTheCall(),
    aRecipient({ external_reference, ...more }),
    aRecipient({ display_name: "Otto Other", external_reference: "otto-1" }),
  ] as const;
  const call = await aCall(clinic, { participants });
  const lines = [
    says(participants[0], 0, 1.5, "How are you both?"),
    says(participants[1], 2, 3, "Better."),
    says(participants[2], 4, 5, "So am I."),
  ];
  await given(call.reportTranscript({ summary: "They are better.", is_final: true, lines }));
  await given(call.reportSoapNote({ is_final: true, text: "Subjective: better." }));
  return { ...call, participants };
}

async function aPatient() {
  const [clinic, reference] = [await anOrganization(), unique("patient")];
  return { clinic, reference, call: await aSharedCall(clinic, reference) };
}

const participantsOf = async ({ client }: Organization, { path }: { path: string }) =>
  (await given(client.get(`${path}/participants`))).participants;

describe("GET /participants/export", () => {
  it("has the calls, visits and log entries of a person as JSON shows them, and only the roles of others", async () => {
    const { clinic, reference, call } = await aPatient();
    await aSharedCall(clinic, "somebody-else");
    const [, rita] = await participantsOf(clinic, call);
    const renamed = unique("patient");
    const update = { participant: { display_name: "Rita Renamed", external_reference: renamed } };
    await given(clinic.client.put(`${call.path}/participants/${rita.id}`, update));
    const second = await aSharedCall(clinic, renamed);
    const people = [
      { role: "recipient", display_name: "Otto Other", external_reference: "otto-1" },
      { role: "recipient", display_name: "Rita Recipient", external_reference: reference },
    ];
    const visit = await planVisit(clinic, call.room.slug, { participants: people });
    await planVisit(clinic, call.room.slug, { participants: people.slice(0, 1) });
    await given(clinic.client.get(`${second.path}/transcript`));
    const listed = (query: string) => given(clinic.client.get(`/access_logs?per_page=100&${query}`));
    const { access_logs: logged } = await listed(`external_reference=${reference}`);
    const { access_logs: loggedLater } = await listed(`external_reference=${renamed}`);

    const answer = await askFor(clinic, reference);
    const { first, calls, visits, access_logs } = linesOf(answer);
    const user_id = clinic.admin.id;
    expect(first).toEqual({ type: "export", external_reference: reference, created_at: aTimestamp, user_id });
    expect(answer.body).not.toMatch(/Otto|otto-1|Paula/);

    // The second call has only the later number.
    expect(calls).toHaveLength(1);
    const { vcon } = calls[0];
    expect(vcon.parties).toMatchObject([
      { role: "provider" },
      { role: "recipient", name: "Rita Renamed", external_reference: renamed },
      { role: "recipient" },
    ]);
    const transcript = (await given(clinic.client.get(`${call.path}/transcript`))).transcript_lines;
    const { analysis } = vcon;
    expect(analysis[0].body.transcript_lines).toEqual(
      transcript.map(({ text, start_time, end_time }: Record<string, unknown>, party: number) => ({
        ...{ party, text, start_time, end_time },
      })),
    );
    expect(analysis.map(({ body }: { body: unknown }) => body).slice(1)).toEqual([
      "They are better.",
      "Subjective: better.",
    ]);

    const shown = (await given(clinic.client.get("/visits"))).visits.find(
      ({ id }: { id: number }) => id === visit.id,
    );
    const [otto, own] = shown.participants;
    expect(visits.map((line) => line.visit)).toEqual([
      { ...shown, participants: [{ id: otto.id, role: "recipient" }, own] },
    ]);
    expect(own).toMatchObject({ display_name: "Rita Recipient", external_reference: reference });

    expect(access_logs.map((line) => line.access_log)).toEqual(logged);
    const later = await read(clinic, renamed);
    expect(later.calls).toHaveLength(2);
    expect(later.access_logs.map((line) => line.access_log)).toEqual(expect.arrayContaining(loggedLater));
  });

  it("signs the calls if the service has a key", async () => {
    const { clinic, reference } = await aPatient();
    const signing = clinic.client.through(throughWorkerWith({ AUDIT_SIGNING_KEY }));
    const [{ jws }] = linesOf(await signing.get(pathOf(reference))).calls;
    const [{ vcon }] = (await read(clinic, reference)).calls;
    const payload = JSON.parse(atob(jws.payload.replace(/-/g, "+").replace(/_/g, "/")));
    expect(payload).toEqual({ ...vcon, updated_at: aTimestamp });
    expect(jws.signatures).toMatchObject([{ protected: expect.any(String), signature: expect.any(String) }]);
  });

  it("leaves an entry with the digest of the reference, and one for each text", async () => {
    const { clinic, reference, call } = await aPatient();
    const answer = await askFor(clinic, reference);
    const texts = { event: "read", call_id: call.id, organization_user_id: call.owner.id };
    const [first, ...ofTexts] = await entriesOfRequest(answer);
    expect(first).toMatchObject({ event: "read", resource: "participant", resource_id: null, call_id: null });
    expect(ofTexts.sort((a, b) => a.resource.localeCompare(b.resource))).toMatchObject([
      { ...texts, resource: "soap_note" },
      { ...texts, resource: "transcript" },
    ]);
    const [entry] = (await storedRows(clinic, "access_logs")).filter((row) => row.reference_digest !== null);
    expect(entry?.reference_digest).toBe(await digestOf(reference));
    const { access_logs } = await read(clinic, reference);
    expect(access_logs.slice(-3).map((line) => line.access_log.request_id)).toEqual(
      Array(3).fill(answer.headers.get("X-Request-Id")),
    );
  });

  it("finds an erased person, without the erased name", async () => {
    const { clinic, reference, call } = await aPatient();
    const rita = { role: "recipient", display_name: "Rita Recipient", external_reference: reference };
    await planVisit(clinic, call.room.slug, { participants: [rita] });
    await given(clinic.client.delete(`/participants?external_reference=${reference}`));
    const answer = await askFor(clinic, reference);
    const { calls, visits } = linesOf(answer);
    expect(calls[0].vcon.parties[1]).toMatchObject({ role: "recipient", name: "Participant" });
    expect(visits[0].visit.participants).toMatchObject([{ display_name: "Participant" }]);
    expect(answer.body).not.toContain("Rita");
  });

  it("of another organization's person, or of nobody, has no lines between the first and the last", async () => {
    const { reference } = await aPatient();
    const other = await anOrganization();
    for (const unknown of [reference, "nobody"])
      expect(await read(other, unknown)).toMatchObject({ calls: [], visits: [], access_logs: [] });
    expect((await read(other, "nobody")).access_logs).toHaveLength(1);
  });

  it("includes a call that has not ended, without its texts", async () => {
    const { clinic, reference } = await aPatient();
    const participants = [aProviderOnTheCall(), aRecipient({ external_reference: reference })];
    const call = await aCall(clinic, { participants, ended_at: null });
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await clinic.addParticipant(call.room.slug, { external_reference: reference });
    const { calls } = await read(clinic, reference);
    expect(calls).toHaveLength(2);
    expect(calls[1].vcon.analysis).toBeUndefined();
  });

  it("reads all pages of visits", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const person = { role: "recipient", display_name: "Rita Recipient", external_reference: "rita" };
    const plan = () => planVisit(clinic, room.slug, { participants: [person] });
    const planned = await Promise.all(Array.from({ length: EXPORTED_ROWS + 1 }, plan));
    const { visits } = await read(clinic, "rita");
    expect(visits.map((line) => line.visit.id)).toEqual(planned.map(({ id }) => id).sort((a, b) => a - b));
  });

  it("counts each call as a request", async () => {
    const { clinic, reference } = await aPatient();
    await aSharedCall(clinic, reference);
    let counted = 0;
    const limit = { limit: async () => ({ success: ++counted <= 1 }) };
    const client = clinic.client.through(throughWorkerWith({ CLIENT_LIMIT: limit }));
    expect(linesOf(await client.get(pathOf(reference))).calls).toHaveLength(2);
    expect(counted).toBe(3);
  });
});

describe("Two exports of an organization", () => {
  async function ask(clinic: Organization, reference: string, method = "GET") {
    const url = `https://service.test/api/external${pathOf(reference)}`;
    const headers = clinic.client.credentials;
    const response = await throughWorkerWith({})(new Request(url, { method, headers }));
    expect(response.status).toBe(200);
    return response;
  }

  /** Begins an export, and returns the reader of its lines. */
  const begin = async (clinic: Organization, reference: string) =>
    ((await ask(clinic, reference)).body as ReadableStream<Uint8Array>).getReader();

  async function restOf(reader: Awaited<ReturnType<typeof begin>>) {
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value);
    return text;
  }

  /** An export that has begun, with lines of four calls. */
  async function aLongExport() {
    const { clinic, reference } = await aPatient();
    for (let n = 0; n < 3; n++) await aSharedCall(clinic, reference);
    return { clinic, reference, first: await begin(clinic, reference) };
  }

  it("run one after the other: the second is refused until the first has ended", async () => {
    const { clinic, reference } = await aPatient();
    const first = await begin(clinic, reference);
    const refused = await askFor(clinic, reference);
    expect(await entriesOfRequest(refused)).toEqual([]);
    expectRefusal(refused, 429, /^Another export of the organization is running/);
    const { headers } = refused;
    expect([headers.get("Error-Code"), headers.get("Retry-After")]).toEqual(["export_running", "60"]);
    const other = await aPatient();
    await read(other.clinic, other.reference);
    expect(await restOf(first)).toMatch(/"type":"end".*\n$/);
    await read(clinic, reference);
  });

  it("do not wait for one that the caller has cancelled, nor for a HEAD request, which takes no lines", async () => {
    const { clinic, reference } = await aPatient();
    await (await begin(clinic, reference)).cancel();
    await read(clinic, reference);
    expect(await storedRows(clinic, "participant_exports")).toEqual([]);
    await ask(clinic, reference, "HEAD");
    await read(clinic, reference);
  });

  it("do not wait longer than a minute: the first then breaks off, without its last line", async () => {
    const { clinic, reference, first } = await aLongExport();
    travelTo(fromNow(59 / 60));
    expect((await askFor(clinic, reference)).status).toBe(429);
    travelTo(fromNow(2 / 60));
    const second = await begin(clinic, reference);
    const readTexts = async () =>
      (await storedRows(clinic, "access_logs")).filter(({ resource }) => resource === "transcript").length;
    const before = await readTexts();
    const log = logged();
    await expect(restOf(first)).rejects.toThrow();
    expect(log()).toMatchObject([{ event: "fault" }]);
    expect(await readTexts()).toBe(before);
    expect(await restOf(second)).toMatch(/"type":"end".*\n$/);
  });

  it("are refused for longer than a minute while the first makes progress", async () => {
    const { clinic, reference, first } = await aLongExport();
    for (let n = 0; n < 3; n++) {
      travelTo(fromNow(40 / 60));
      await first.read();
    }
    expect((await askFor(clinic, reference)).status).toBe(429);
    expect(await restOf(first)).toMatch(/"type":"end".*\n$/);
  });

  it("break off without the last line if a text cannot be recorded, and leave no lock", async () => {
    const { clinic, reference, first } = await aLongExport();
    const log = logged();
    await withoutEntries(() => expect(restOf(first)).rejects.toThrow());
    expect(log()).toMatchObject([{ event: "fault" }]);
    await read(clinic, reference);
  });
});
