import { describe, expect, it } from "vitest";
import { type AuditEntry, anAuditedEgress, anEgressReadAt } from "../../worker/support/egresses.ts";
import { expectRefusal } from "../../worker/support/expectations.ts";
import { given } from "../../worker/support/organization.ts";
import { dateAhead, timeAhead } from "../../worker/support/time.ts";

describe("GET …/egresses/{egress_id}/audit_logs", () => {
  it.each([
    ["create", ["create"]],
    ["update", ["update", "update"]],
    ["read", ["read", "read", "read"]],
  ])("event (string: create, update or read): %s", async (event, expected) => {
    const { read, report, audit } = await anAuditedEgress();
    await read();
    await given(report({ error: "Lost." }));
    await read();
    await given(report({ error: "Found." }));
    await read();
    const { body } = await audit(`?event=${event}`);
    expect(body.audit_logs.map((entry: AuditEntry) => entry.event)).toEqual(expected);
    expect(body.pagination).toEqual({
      current_page: 1,
      per_page: 25,
      total_pages: 1,
      total_count: expected.length,
    });
  });

  it("one value per request", async () => {
    const { audit } = await anAuditedEgress();
    expectRefusal(await audit("?event=create&event=read"), 400, /event/);
  });

  const MOMENTS = [
    timeAhead("23:59:59.999"),
    timeAhead("00:00:00.000", 1),
    timeAhead("23:59:59.999", 1),
    timeAhead("00:00:00.000", 2),
    timeAhead("23:59:59.999", 2),
    timeAhead("00:00:00.000", 3),
  ] as const;

  it("page (integer, default 1), per_page (integer, default 25)", async () => {
    const { audit } = await anEgressReadAt(...MOMENTS);
    expect((await audit()).body.pagination).toMatchObject({ current_page: 1, per_page: 25 });
    const { body } = await audit(`?from=${dateAhead(1)}&event=read&page=2&per_page=2`);
    expect(body.audit_logs.map(({ created_at }: AuditEntry) => created_at)).toEqual([MOMENTS[3], MOMENTS[2]]);
    expect(body.pagination).toEqual({ current_page: 2, per_page: 2, total_pages: 3, total_count: 5 });
  });

  it("5. Audit results are ordered by created_at, newest first;", async () => {
    const { read, report, entries } = await anEgressReadAt(
      timeAhead(),
      timeAhead("09:30:00.002"),
      timeAhead("09:30:00.002"),
      timeAhead("09:30:00.001"),
    );
    await read();
    await given(report({ error: "Lost." }));
    const all = await entries();
    // The clock was set back before the last three, which are not older than the entries that they follow.
    expect(all.map(({ event, created_at }) => `${event} ${created_at.slice(-4)}`)).toEqual([
      "update 002Z",
      ...Array.from({ length: 4 }, () => "read 002Z"),
      "create 000Z",
    ]);
    const ids = all.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
  });

  it.each([
    ["from the start of a day", `?from=${dateAhead(1)}`, MOMENTS.slice(1)],
    ["through the end of a day", `?to=${dateAhead(2)}`, MOMENTS.slice(0, 5)],
    ["from one day to another", `?from=${dateAhead(1)}&to=${dateAhead(2)}`, MOMENTS.slice(1, 5)],
    ["of one day", `?from=${dateAhead(1)}&to=${dateAhead(1)}`, MOMENTS.slice(1, 3)],
    ["before the first entry", `?to=${dateAhead(-1)}`, []],
    ["after the last entry", `?from=${dateAhead(4)}`, []],
    ["from the earliest to the latest day", "?from=0001-01-01&to=9999-12-31", MOMENTS],
    ["of one day and one event", `?from=${dateAhead()}&to=${dateAhead(1)}&event=read`, MOMENTS.slice(1, 3)],
  ])("from, to (string YYYY-MM-DD): date filters are inclusive: entries %s", async (_, query, expected) => {
    const { times } = await anEgressReadAt(...MOMENTS);
    expect(await times(query)).toEqual(expected.toReversed());
  });
});
