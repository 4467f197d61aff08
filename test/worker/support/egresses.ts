import { expect } from "vitest";
import { aCall, type Call, ENDED_AT, reportEgress } from "./calls.ts";
import { expectRefusal } from "./expectations.ts";
import { anOrganization, given, type Organization, unique } from "./organization.ts";
import { travelTo } from "./time.ts";
import { changingNothing } from "./unchanged.ts";

export const egressesOf = ({ client }: Organization, { path }: Call) => ({
  list: () => client.get(`${path}/egresses`),
  get: (id: number | string) => client.get(`${path}/egresses/${id}`),
  audit: (id: number | string, query = "") => client.get(`${path}/egresses/${id}/audit_logs${query}`),
});

type Egresses = ReturnType<typeof egressesOf>;

export async function aCallToRecord(call: object = {}) {
  const clinic = await anOrganization();
  const recorded = await aCall(clinic, call);
  return { clinic, call: recorded, ...egressesOf(clinic, recorded) };
}

/** A recording that has just started and has no file yet. */
export async function aStartingEgress() {
  const scene = await aCallToRecord();
  const egress_id = unique("egress");
  const first = { call_key: scene.call.key, status: "egress_starting" };
  const reported = await given(reportEgress(scene.clinic, egress_id, first));
  const report = (egress: object) => reportEgress(scene.clinic, egress_id, egress);
  return { ...scene, egress_id, first, reported, report };
}

export async function anEndedEgress() {
  const scene = await aStartingEgress();
  const { clinic, egress_id } = scene;
  const end = {
    status: "egress_ended",
    is_stopped: true,
    ended_at: ENDED_AT,
    storage_key: `${clinic.slug}/${egress_id}.wav`,
  };
  return { ...scene, end, reported: await given(scene.report(end)) };
}

export async function expectHidden({ list, get }: Egresses, id: number) {
  await changingNothing(async () => {
    const listed = await list();
    expect(listed.body).toEqual({ egresses: [] });
    expectRefusal(await get(id), 404);
  });
}

export async function expectShown({ list, get, audit }: Egresses, id: number) {
  expect((await list()).body.egresses).toMatchObject([{ id }]);
  expect((await get(id)).status).toBe(200);
  expect((await audit(id)).status).toBe(200);
}

export interface AuditEntry {
  id: number;
  event: string;
  user_id: number;
  object_changes: Record<string, [unknown, unknown]> | null;
  created_at: string;
}

/** A starting recording of an ended call to which everybody consented. */
export async function anAuditedEgress(first: object = {}, organization?: Organization) {
  const clinic = organization ?? (await anOrganization());
  const call = await aCall(clinic);
  const egress_id = unique("egress");
  const report = (egress: object) => reportEgress(clinic, egress_id, egress);
  const { id } = await given(report({ call_key: call.key, status: "egress_starting", ...first }));
  const { get, audit } = egressesOf(clinic, call);
  return {
    clinic,
    call,
    id: id as number,
    egress_id,
    report,
    read: () => given(get(id)),
    audit: (query = "") => audit(id, query),
    entries: async (query = ""): Promise<AuditEntry[]> => (await given(audit(id, query))).audit_logs,
  };
}

/** A recording created and read at these moments. `times` returns the moments of its entries. */
export async function anEgressReadAt(created: string, ...moments: string[]) {
  travelTo(created);
  const egress = await anAuditedEgress();
  for (const moment of moments) {
    travelTo(moment);
    await egress.read();
  }
  return {
    ...egress,
    times: async (query = "") => (await egress.entries(query)).map(({ created_at }) => created_at),
  };
}
