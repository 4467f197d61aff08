import { flattenedVerify, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import { entriesOfRequest, withoutEntries } from "../support/access_logs.ts";
import { platform } from "../support/api.ts";
import { aCall, aProviderOnTheCall, aRecipient, ENDED_AT, STARTED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { AUDIT_SIGNING_KEY } from "../support/seals.ts";
import { SOAP_TEXT } from "../support/soap_notes.ts";
import { says } from "../support/transcripts.ts";
import { throughWorkerWith } from "../support/worker.ts";

const FHIR = "application/fhir+json";
const VCON = "application/vcon+json";
const JWS = "application/vcon+jws";

type Client = Pick<Organization["client"], "send">;

const readAs = ({ client }: { client: Client }, { path }: { path: string }, Accept: string, headers = {}) =>
  client.send("GET", path, undefined, { Accept, ...headers });

/** Paula's ended call with Rita, who has a reference: with a transcript, a corrected note and a recording. */
async function aVisit() {
  const clinic = await anOrganization();
  const paula = await clinic.addProvider();
  const provider = aProviderOnTheCall({ user_id: paula.user_id, joined_at: STARTED_AT });
  const rita = aRecipient({ external_reference: "patient-1", recording_consent_method: "verbal" });
  const call = await aCall(clinic, { participants: [provider, rita] }, paula);
  const lines = [says(rita, 0, 2, "Good morning, Paula.")];
  await given(call.reportTranscript({ summary: "A cough.", is_final: true, lines }));
  await given(call.reportSoapNote({ is_final: true, text: "A draft." }));
  const correction = { text: SOAP_TEXT, reason: "It was a draft." };
  await given(clinic.client.put(`${call.path}/soap_note`, { soap_note: correction }));
  const egress = await call.addEgress({ started_at: STARTED_AT, duration: 90, size: 1024 });
  return { clinic, paula, call, egress };
}

interface Resource {
  resourceType: string;
  [field: string]: unknown;
}

const resourcesOf = (bundle: { entry: { resource: Resource }[] }, type: string) =>
  bundle.entry.map(({ resource }) => resource).filter(({ resourceType }) => resourceType === type);

describe("GET …/calls/{call_id} as FHIR", () => {
  it("returns a transaction with the encounter, the consents, the documents and their provenance", async () => {
    const { clinic, paula, call, egress } = await aVisit();
    const { headers, body } = await readAs(clinic, call, FHIR);
    expect([headers.get("Content-Type"), headers.get("Vary")]).toEqual([FHIR, "Accept"]);
    const patient = {
      type: "Patient",
      identifier: { system: `https://service.test/identifiers/${clinic.slug}/patient`, value: "patient-1" },
      display: "Rita Recipient",
    };
    const individual = { display: "Paula Provider", identifier: { value: String(paula.id) } };
    expect(resourcesOf(body, "Encounter")).toMatchObject([
      {
        status: "finished",
        class: { code: "VR" },
        subject: patient,
        period: { start: STARTED_AT, end: ENDED_AT },
        participant: [
          { type: [{ text: "provider" }], individual },
          { type: [{ text: "recipient" }], individual: { display: "Rita Recipient" } },
        ],
        location: [{ location: { display: "Cardiology" } }],
        serviceProvider: { display: "Riverside Clinic" },
      },
    ]);
    expect(resourcesOf(body, "Consent")).toMatchObject([
      { patient, provision: { type: "permit" }, sourceAttachment: { title: "verbal" } },
    ]);
    const [note, transcript, recording] = resourcesOf(body, "DocumentReference");
    expect(note).toMatchObject({
      docStatus: "amended",
      masterIdentifier: { value: `${call.id}/soap_note/2` },
      subject: patient,
    });
    expect(contentsOf(note)).toEqual([SOAP_TEXT]);
    const first = { value: `${call.id}/transcript/1` };
    expect(transcript).toMatchObject({ docStatus: "final", masterIdentifier: first });
    const [webVtt, json] = contentsOf(transcript);
    expect(webVtt).toBe((await readAs(clinic, { path: `${call.path}/transcript` }, "text/vtt")).body);
    expect(JSON.parse(json ?? "")).toEqual(await given(clinic.client.get(`${call.path}/transcript`)));
    const url = `https://service.test/api/external${call.path}/egresses/${egress.id}`;
    expect(recording).toMatchObject({
      content: [{ attachment: { url, size: 1024 } }],
      context: { period: { start: STARTED_AT, end: "2026-01-31T09:31:30.000Z" } },
    });
    const provenance = resourcesOf(body, "Provenance");
    expect(provenance.map(({ activity }) => activity)).toMatchObject(
      ["CREATE", "UPDATE", "CREATE"].map((code) => ({ coding: [{ code }] })),
    );
    const admin = { identifier: { value: String(clinic.admin.id) } };
    expect(provenance[1]).toMatchObject({ agent: [{ who: admin }] });
  });

  it("uses the organization's own system of patient numbers", async () => {
    const { clinic, call } = await aVisit();
    const patient_identifier_system = "urn:oid:2.999.7";
    await given(clinic.client.put("/organization", { organization: { patient_identifier_system } }));
    const [encounter] = resourcesOf((await readAs(clinic, call, FHIR)).body, "Encounter");
    expect(encounter).toMatchObject({ subject: { identifier: { system: patient_identifier_system } } });
    for (const wrong of ["patients", "https://clinic.test/a|b", "urn:with space"]) {
      const organization = { patient_identifier_system: wrong };
      expectRefusal(await clinic.client.put("/organization", { organization }), 422, /must be a URI/);
    }
  });

  it("returns a call that is going on, without its results", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    const { body } = await readAs(clinic, call, FHIR);
    expect(resourcesOf(body, "Encounter")).toMatchObject([
      { status: "in-progress", period: { start: STARTED_AT } },
    ]);
    expect(body.entry).toHaveLength(1);
  });
});

const contentsOf = (document: Resource | undefined) =>
  (document as unknown as { content: { attachment: { data: string } }[] }).content.map(({ attachment }) =>
    new TextDecoder().decode(Uint8Array.from(atob(attachment.data), (byte) => byte.charCodeAt(0))),
  );

describe("GET …/calls/{call_id} as a vCon", () => {
  it("returns the parties, the dialog, the analysis and the consents", async () => {
    const { clinic, paula, call, egress } = await aVisit();
    const { body } = await readAs(clinic, call, VCON);
    expect(body).toMatchObject({
      vcon: "0.4.0",
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      parties: [
        { role: "provider", name: "Paula Provider", user_id: paula.user_id },
        { role: "recipient", name: "Rita Recipient", external_reference: "patient-1" },
      ],
      dialog: [
        {
          type: "recording-set",
          start: STARTED_AT,
          duration: 1800,
          parties: [0, 1],
          recordings: [1],
          call_id: call.id,
        },
        { type: "recording", duration: 90, path: `/api/external${call.path}/egresses/${egress.id}` },
      ],
      analysis: [
        { type: "transcript", body: { transcript_lines: [{ party: 1, text: "Good morning, Paula." }] } },
        { type: "summary", body: "A cough." },
        { type: "report", schema: "soap_note", body: SOAP_TEXT },
      ],
      attachments: [
        { party: 0, body: { decision: "granted" } },
        { party: 1, body: { decision: "granted", method: "verbal" } },
      ],
    });
    expect((await readAs(clinic, call, VCON)).body).toEqual(body);
  });

  it("returns it signed with the key that seals the access log, and 406 without a key", async () => {
    const { clinic, call } = await aVisit();
    const unsigned = (await readAs(clinic, call, VCON)).body;
    const client = clinic.client.through(throughWorkerWith({ AUDIT_SIGNING_KEY }));
    const { headers, body } = await readAs({ client }, call, JWS);
    expect(headers.get("Content-Type")).toBe(JWS);
    const [signature] = body.signatures;
    expect(signature.header).toEqual({ uuid: unsigned.uuid });
    const { d: _, ...key } = JSON.parse(AUDIT_SIGNING_KEY);
    const published = await importJWK(key, "EdDSA");
    const signed = await flattenedVerify({ ...signature, payload: body.payload }, published);
    const vcon = JSON.parse(new TextDecoder().decode(signed.payload));
    expect(vcon).toEqual({ ...unsigned, updated_at: expect.any(String) });
    const refused = await readAs(clinic, call, JWS);
    expectRefusal(refused, 406, /no signing key/);
    expect(await entriesOfRequest(refused)).toEqual([]);
  });
});

/** The entries of a call that is read without results. */
const ONLY_PEOPLE = [{ resource: "participant" }, { resource: "consent" }];

describe.each([FHIR, VCON])("GET …/calls/{call_id} as %s", (type) => {
  it("leaves the entries of reading the participants, the consents and each text, and JSON leaves none", async () => {
    const { clinic, call } = await aVisit();
    const answer = await readAs(clinic, call, type);
    const entries = await entriesOfRequest(answer);
    const resources = ["soap_note", "transcript", "participant", "consent"];
    expect(entries).toMatchObject(
      resources.map((resource) => ({ event: "read", resource, call_id: call.id })),
    );
    expect(entries[2]?.shown).toHaveLength(2);
    expect(await entriesOfRequest(await readAs(clinic, call, "application/json"))).toEqual([]);
    await expect(withoutEntries(async () => (await readAs(clinic, call, type)).status)).resolves.toBe(500);
  });

  it("shows no texts and recordings without results:read, and no corrections to an assistant", async () => {
    const { clinic, paula, call } = await aVisit();
    const client = await clinic.addClient(clinic.admin.id, { scopes: ["calls:read"] });
    const answer = await readAs({ client }, call, type);
    expect(answer.status).toBe(200);
    const results = /DocumentReference|Provenance|analysis|"recording"|cough/;
    expect(JSON.stringify(answer.body)).not.toMatch(results);
    expect(await entriesOfRequest(answer)).toMatchObject(ONLY_PEOPLE);
    const ann = await clinic.addUser("Ann Assistant", ["provider_assistant"], { assists: [paula.id] });
    const assistant = await readAs({ client: await clinic.addClient(ann.id) }, call, type);
    expect(await entriesOfRequest(assistant)).toHaveLength(4);
    expect(JSON.stringify(assistant.body)).not.toContain("UPDATE");
    const other = await clinic.addClient((await clinic.addProvider()).id);
    expectRefusal(await readAs({ client: other }, call, type), 404, "Call not found");
  });

  it("hides a note's draft and a refused recording", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { participants: [aRecipient({ recording_consent: false })] });
    await call.addEgress();
    await given(call.reportSoapNote({ is_final: false, text: SOAP_TEXT }));
    const answer = await readAs(clinic, call, type);
    expect(JSON.stringify(answer.body)).not.toMatch(/DocumentReference|analysis|"recording"/);
    expect(await entriesOfRequest(answer)).toMatchObject(ONLY_PEOPLE);
  });

  it("hides a recording whose file was deleted, or is not there yet", async () => {
    const { clinic, call, egress } = await aVisit();
    await given(clinic.client.delete(`${call.path}/egresses/${egress.id}`));
    await call.addEgress({ status: "egress_ending", storage_key: null });
    expect((await given(clinic.client.get(`${call.path}/egresses`))).egresses).toHaveLength(2);
    expect(JSON.stringify((await readAs(clinic, call, type)).body)).not.toMatch(/"recording"|egresses/);
  });

  it("requires the acting user where the organization does, and JSON does not", async () => {
    const { clinic, call } = await aVisit();
    await given(platform.put(`/organizations/${clinic.id}`, { organization: { require_acting_user: true } }));
    const client = await clinic.addClient(clinic.admin.id);
    expectRefusal(await readAs({ client }, call, type), 400, /X-Acting-User/);
    expect((await readAs({ client }, call, "application/json")).status).toBe(200);
    const acting = { "X-Acting-User": "staff-1", "X-Purpose-Of-Use": "TREAT" };
    expect((await readAs({ client }, call, type, acting)).status).toBe(200);
  });
});
