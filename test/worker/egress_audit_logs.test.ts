import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../src/database/schema.ts";
import { atOnce } from "./support/at_once.ts";
import { aCall, ENDED_AT, reportEgress } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

interface Entry {
  id: number;
  event: string;
  user_id: number;
  object_changes: Record<string, [unknown, unknown]> | null;
  created_at: string;
}

/** A recording that has just started, of an ended call to which everybody consented. */
async function anEgress(first: object = {}, organization?: Organization) {
  const clinic = organization ?? (await anOrganization());
  const call = await aCall(clinic);
  const egress_id = unique("egress");
  const report = (egress: object) => reportEgress(clinic, egress_id, egress);
  const { id } = await given(report({ call_key: call.key, status: "egress_starting", ...first }));
  const path = `${call.path}/egresses/${id}`;
  const audit = (query = "") => clinic.client.get(`${path}/audit_logs${query}`);
  return {
    clinic,
    call,
    id: id as number,
    egress_id,
    report,
    read: () => given(clinic.client.get(path)),
    audit,
    entries: async (query = "") => (await given(audit(query))).audit_logs as Entry[],
  };
}

/** A recording that was created and read at certain moments, and a function that lists the moments of its entries. */
async function anEgressReadAt(created: string, ...moments: string[]) {
  travelTo(created);
  const egress = await anEgress();
  for (const moment of moments) {
    travelTo(moment);
    await egress.read();
  }
  return {
    ...egress,
    times: async (query: string) => (await egress.entries(query)).map(({ created_at }) => created_at),
  };
}

describe("The audit logs of an egress", () => {
  it.each([
    ["the System user if the report names nobody", {}, {}],
    [
      "the user who caused it",
      { error: "The disk was full.", is_stopped: true, status: "egress_ended", ended_at: ENDED_AT },
      { error: [null, "The disk was full."], is_stopped: [null, true], status: [null, "egress_ended"] },
    ],
  ])("have its creation, with the fields that are not null, and %s", async (_, more, changes) => {
    travelTo("2026-01-31T10:30:00.123Z");
    const clinic = await anOrganization();
    const isNamed = "error" in more;
    const storage_key = `${clinic.slug}/secret`;
    const named = isNamed ? { user_id: clinic.admin.user_id, storage_key } : {};
    const { egress_id, audit } = await anEgress({ ...more, ...named }, clinic);
    expect((await audit()).body).toEqual({
      audit_logs: [
        {
          id: expect.any(Number),
          event: "create",
          user_id: isNamed ? clinic.admin.user_id : SYSTEM_USER_ID,
          object_changes: {
            egress_id: [null, egress_id],
            status: [null, "egress_starting"],
            is_stopped: [null, false],
            ...(isNamed && { ended_at: [null, ENDED_AT] }),
            ...changes,
          },
          created_at: "2026-01-31T10:30:00.123Z",
        },
      ],
      pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 },
    });
  });

  it("have an update with only the fields that changed, and the time of the change", async () => {
    const { clinic, report, entries } = await anEgress();
    travelTo("2027-01-31T10:00:01.000Z");
    const end = { status: "egress_ended", is_stopped: true, ended_at: ENDED_AT };
    await given(report({ ...end, user_id: clinic.admin.user_id }));
    travelTo("2027-01-31T10:00:02.000Z");
    await given(report({ ...end, error: "The disk was full." }));
    travelTo("2027-01-31T10:00:03.000Z");
    await given(report({ error: null, ended_at: "2026-01-31T10:00:07Z" }));
    const entry = (user_id: number, second: number, object_changes: object) => ({
      id: expect.any(Number),
      event: "update",
      user_id,
      object_changes,
      created_at: `2027-01-31T10:00:0${second}.000Z`,
    });
    expect((await entries()).reverse()).toEqual([
      expect.objectContaining({ event: "create" }),
      entry(clinic.admin.user_id, 1, {
        status: ["egress_starting", "egress_ended"],
        is_stopped: [false, true],
        ended_at: [null, ENDED_AT],
      }),
      entry(SYSTEM_USER_ID, 2, { error: [null, "The disk was full."] }),
      entry(SYSTEM_USER_ID, 3, {
        error: ["The disk was full.", null],
        ended_at: [ENDED_AT, "2026-01-31T10:00:07.000Z"],
      }),
    ]);
  });

  it("have a read without changes, and the user as whom the client acts", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const call = await aCall(clinic, {}, paula);
    const path = `${call.path}/egresses/${(await call.addEgress()).id}`;
    const client = await clinic.addClient(paula.id);
    travelTo("2027-01-31T10:00:01.000Z");
    await given(client.get(path));
    const { audit_logs } = await given(clinic.client.get(`${path}/audit_logs`));
    expect(audit_logs).toHaveLength(2);
    expect(audit_logs[0]).toEqual({
      id: expect.any(Number),
      event: "read",
      user_id: paula.user_id,
      object_changes: null,
      created_at: "2027-01-31T10:00:01.000Z",
    });
  });

  it("have one creation if twenty reports of it come at the same time", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const egress_id = unique("egress");
    const first = { call_key: call.key, status: "egress_starting" };
    const answers = await atOnce(20, () => given(reportEgress(clinic, egress_id, first)));
    const { audit_logs } = await given(
      clinic.client.get(`${call.path}/egresses/${answers[0].id}/audit_logs`),
    );
    expect(audit_logs.map(({ event }: Entry) => event)).toEqual(["create"]);
  });

  it("never contain the storage key or a URL, even in an update", async () => {
    const clinic = await anOrganization();
    const [storage_key, second] = [`${clinic.slug}/secret/first.wav`, `${clinic.slug}/secret/second.wav`];
    const { id, report, read, entries } = await anEgress({ storage_key }, clinic);
    await given(report({ storage_key: second }));
    expect((await entries()).map(({ event }) => event)).toEqual(["create"]);
    await read();
    await given(report({ storage_key: null, error: "Lost." }));
    expect((await entries()).map(({ event, object_changes }) => [event, object_changes])).toEqual([
      ["update", { error: [null, "Lost."] }],
      ["read", null],
      ["create", expect.anything()],
    ]);
    const { results } = await env.DB.prepare("select * from egress_audit_logs where egress_id = ?")
      .bind(id)
      .all();
    expect(JSON.stringify([results, await entries()])).not.toMatch(/secret|wav|storage_key|http/);
  });
});

it("The audit logs come newest first, and by id within the same moment", async () => {
  const { read, report, entries } = await anEgressReadAt(
    "2027-01-31T09:30:00.000Z",
    "2027-01-31T09:30:00.002Z",
    "2027-01-31T09:30:00.002Z",
    "2027-01-31T09:30:00.001Z",
  );
  await read();
  await given(report({ error: "Lost." }));
  const all = await entries();
  expect(all.map(({ event, created_at }) => `${event} ${created_at.slice(-4)}`)).toEqual([
    "read 002Z",
    "read 002Z",
    "update 001Z",
    "read 001Z",
    "read 001Z",
    "create 000Z",
  ]);
  const [a, b, c, d, e, f] = all.map(({ id }) => id) as [number, number, number, number, number, number];
  expect([a > b, c > d, d > e]).toEqual([true, true, true]);
  // The last two were written after the first two, at an earlier time.
  expect([c > a, f < b]).toEqual([true, true]);
});

describe("A filter of the audit logs", () => {
  it.each([
    ["create", ["create"]],
    ["update", ["update", "update"]],
    ["read", ["read", "read", "read"]],
  ])("by event returns only those of %s, and counts them", async (event, expected) => {
    const { read, report, audit } = await anEgress();
    await read();
    await given(report({ error: "Lost." }));
    await read();
    await given(report({ error: "Found." }));
    await read();
    const { body } = await audit(`?event=${event}`);
    expect(body.audit_logs.map((entry: Entry) => entry.event)).toEqual(expected);
    expect(body.pagination).toEqual({
      current_page: 1,
      per_page: 25,
      total_pages: 1,
      total_count: expected.length,
    });
  });

  const MOMENTS = [
    "2027-01-31T23:59:59.999Z",
    "2027-02-01T00:00:00.000Z",
    "2027-02-01T23:59:59.999Z",
    "2027-02-02T00:00:00.000Z",
    "2027-02-02T23:59:59.999Z",
    "2027-02-03T00:00:00.000Z",
  ] as const;

  it.each([
    ["from a day on", "?from=2027-02-01", MOMENTS.slice(1)],
    ["up to a day", "?to=2027-02-02", MOMENTS.slice(0, 5)],
    ["from a day to another", "?from=2027-02-01&to=2027-02-02", MOMENTS.slice(1, 5)],
    ["of one day", "?from=2027-02-01&to=2027-02-01", MOMENTS.slice(1, 3)],
    ["before all", "?to=2027-01-30", []],
    ["after all", "?from=2027-02-04", []],
    ["from the earliest to the latest day", "?from=0001-01-01&to=9999-12-31", MOMENTS],
    ["of one day and one event", "?from=2027-01-31&to=2027-02-01&event=read", MOMENTS.slice(1, 3)],
  ])("returns entries %s, from its start to its end in UTC", async (_, query, expected) => {
    const { times } = await anEgressReadAt(...MOMENTS);
    expect(await times(query)).toEqual(expected.toReversed());
  });

  it("works together with pages", async () => {
    const { audit } = await anEgressReadAt(...MOMENTS);
    const { body } = await audit("?from=2027-02-01&event=read&page=2&per_page=2");
    expect(body.audit_logs.map(({ created_at }: Entry) => created_at)).toEqual([MOMENTS[3], MOMENTS[2]]);
    expect(body.pagination).toEqual({ current_page: 2, per_page: 2, total_pages: 3, total_count: 5 });
  });

  it.each([
    ["event=create&event=read", /event/],
    ["from=2027-02-02&to=2027-02-01", /from/],
    ["from=tomorrow&to=2027-02-01", /^from: must be a date such as 2026-01-31$/],
  ])("is refused with ?%s", async (query, text) => {
    const { audit } = await anEgress();
    expectRefusal(await audit(`?${query}`), 400, text);
  });

  it("that is invalid is refused before an egress that does not exist", async () => {
    const { clinic, call } = await anEgress();
    const path = `${call.path}/egresses/999999999/audit_logs`;
    expectRefusal(await clinic.client.get(`${path}?event=delete`), 400, /event/);
    expectRefusal(await clinic.client.get(path), 404);
  });
});

describe("An audit entry, even for an operator who works on the database,", () => {
  const onDatabase = (query: string, ...values: unknown[]) =>
    env.DB.prepare(query)
      .bind(...values)
      .run();

  it("is never deleted with its egress", async () => {
    const { id } = await anEgress();
    const deletion = () => onDatabase("delete from egresses where id = ?", id);
    await changingNothing(() => expect(deletion()).rejects.toThrow());
  });

  it("is written for every change of an egress, and names somebody", async () => {
    const { id, entries } = await anEgress();
    await onDatabase("update egresses set error = 'Lost.', updated_at = 1 where id = ?", id);
    expect(await entries()).toContainEqual(
      expect.objectContaining({ user_id: SYSTEM_USER_ID, object_changes: { error: [null, "Lost."] } }),
    );
  });

  it("always names somebody", async () => {
    const { clinic, id } = await anEgress();
    const unnamed = `insert into egress_audit_logs (organization_id, egress_id, event, created_at)
      values (?, ?, 'read', 1)`;
    await changingNothing(() => expect(onDatabase(unnamed, clinic.id, id)).rejects.toThrow(/NOT NULL/));
  });
});
