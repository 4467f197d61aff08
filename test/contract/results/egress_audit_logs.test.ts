import { describe, expect, it } from "vitest";
import { type AuditEntry, anAuditedEgress, anEgressReadAt } from "../../worker/support/egresses.ts";
import { expectRefusal } from "../../worker/support/expectations.ts";
import { given } from "../../worker/support/organization.ts";
import { dateAhead, timeAhead } from "../../worker/support/time.ts";

describe("GET …/egresses/{egress_id}/audit_logs", () => {
  it("event (string: create, update or read), one value per request", async () => {
    const { read, report, audit, entries } = await anAuditedEgress();
    await read();
    await given(report({ error: "Lost." }));
    await read();
    for (const [event, count] of [
      ["create", 1],
      ["update", 1],
      ["read", 2],
    ])
      expect((await entries(`?event=${event}`)).map((entry) => entry.event)).toEqual(
        Array(count).fill(event),
      );
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

  it("from, to (string YYYY-MM-DD): date filters are inclusive", async () => {
    const { times } = await anEgressReadAt(...MOMENTS);
    for (const [query, expected] of [
      [`?from=${dateAhead(1)}`, MOMENTS.slice(1)],
      [`?to=${dateAhead(2)}`, MOMENTS.slice(0, 5)],
      [`?from=${dateAhead(1)}&to=${dateAhead(1)}`, MOMENTS.slice(1, 3)],
      ["?from=0001-01-01&to=9999-12-31", MOMENTS],
    ] as const)
      expect(await times(query)).toEqual(expected.toReversed());
  });
});
