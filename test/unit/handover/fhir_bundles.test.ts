import { describe, expect, it } from "vitest";
import type { CallRecord } from "../../../src/handover/call_records/call_records.service.ts";
import { fhirBundleOf } from "../../../src/handover/fhir_bundles/fhir_bundles.ts";
import { ADDRESS, aNote, aRecord, CALLS, PAULA, RITA, ROB, transcriptOf } from "../support/call_records.ts";

const bundleOf = (record: CallRecord | undefined) => fhirBundleOf(record ?? aRecord());

interface Stored {
  resourceType: string;
  id: number;
  identifier?: { system: string; value: string }[];
  target?: { reference: string }[];
  recorded?: string;
  [field: string]: unknown;
}

/** Carries out a transaction as R4's rules say: conditional updates and creations, then references within the bundle. */
function post(server: Stored[], bundle: ReturnType<typeof fhirBundleOf>) {
  const before = structuredClone(server);
  const ids = new Map<string, string>();
  const written = bundle.entry.map(({ fullUrl, resource, request }) => {
    const search = new URL(request.ifNoneExist ? `?${request.ifNoneExist}` : request.url, ADDRESS)
      .searchParams;
    const matches = before.filter(
      (stored) => stored.resourceType === resource.resourceType && matched(before, stored, search),
    );
    expect(matches.length, request.url).toBeLessThan(2);
    const id = matches[0]?.id ?? server.length + 1;
    const stored = { ...structuredClone(resource), id } as Stored;
    if (matches.length === 0) server.push(stored);
    else if (request.method === "PUT") server[id - 1] = stored;
    if (fullUrl) ids.set(fullUrl, `${resource.resourceType}/${id}`);
    return stored;
  });
  for (const each of written)
    Object.assign(
      each,
      JSON.parse(JSON.stringify(each).replace(/urn:uuid:[-0-9a-f]+/g, (name) => ids.get(name) ?? "unknown")),
    );
}

function matched(server: Stored[], stored: Stored, search: URLSearchParams): boolean {
  const has = ({ identifier = [] }: Stored, token: string | null) =>
    identifier.some(({ system, value }) => `${system}|${value}` === token);
  if (stored.resourceType !== "Provenance") return has(stored, search.get("identifier"));
  const target = server.find(
    ({ resourceType, id }) => stored.target?.[0]?.reference === `${resourceType}/${id}`,
  );
  return (
    stored.recorded === search.get("recorded") &&
    target !== undefined &&
    has(target, search.get("target:DocumentReference.identifier"))
  );
}

describe("A FHIR server that takes the bundles of a call", () => {
  it.each(Object.entries(CALLS))("has each thing once, however often it takes one %s", (_, record) => {
    const server: Stored[] = [];
    post(server, bundleOf(record));
    const first = structuredClone(server);
    expect(first.filter(({ resourceType }) => resourceType === "Encounter")).toHaveLength(1);
    expect(JSON.stringify(first)).not.toMatch(/urn:uuid|unknown/);
    post(server, bundleOf(record));
    expect(server).toEqual(first);
  });

  it("updates what it has with a later state", () => {
    const server: Stored[] = [];
    const states = ["going on", "complete", "corrected"].map((name) => bundleOf(CALLS[name]));
    const counts = states.map((state) => {
      post(server, state);
      return server.length;
    });
    const [going, documents, texts, corrections] = [2, 3, 2, 3];
    expect(counts).toEqual([going, going + documents + texts, going + documents + texts + corrections]);
    expect(server[0]).toMatchObject({ status: "finished", period: { end: "2026-01-31T10:00:00.000Z" } });
    const note = server.find(({ identifier }) => identifier?.[0]?.value === "300/soap_note");
    expect(note).toMatchObject({ docStatus: "amended", masterIdentifier: { value: "300/soap_note/3" } });
  });
});

const patientsOf = (record: CallRecord) =>
  bundleOf(record).entry.map(
    ({ resource }) => (resource as { subject?: { identifier: object } }).subject?.identifier,
  );

describe("The subject", () => {
  const patient = { system: `${ADDRESS}/identifiers/riverside-clinic/patient`, value: "patient-4711" };

  it.each([
    ["is the recipient with a reference", [PAULA, RITA], patient],
    ["is the only recipient with one", [RITA, { ...ROB, external_reference: null }], patient],
    ["is nobody without a reference", [PAULA, { ...RITA, external_reference: null }], undefined],
    ["is nobody if two have one", [RITA, ROB], undefined],
    ["is never a provider", [{ ...PAULA, external_reference: "staff-1" }], undefined],
  ])("%s", (_, participants, expected) => {
    const unasked = participants.map((each) => ({ ...each, consent: undefined }));
    const texts = { soap_note: aNote(), transcript: transcriptOf([PAULA]) };
    const record = aRecord({ participants: unasked, ...texts });
    expect(patientsOf(record).slice(0, 3)).toEqual([expected, expected, expected]);
  });
});
