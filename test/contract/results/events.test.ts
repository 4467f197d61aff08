import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { aCall, ENDED_AT } from "../../worker/support/calls.ts";
import { anAuditedEgress } from "../../worker/support/egresses.ts";
import { anOrganization, given } from "../../worker/support/organization.ts";
import { dateAhead, timeAhead, travelTo } from "../../worker/support/time.ts";

describe("Events: The egress audit trail records three event kinds, readable through the audit log endpoint", () => {
  it.each([
    ["the System user if the report names nobody", {}, {}],
    [
      "the user who caused it",
      { error: "The disk was full.", is_stopped: true, status: "egress_ended", ended_at: ENDED_AT },
      { error: [null, "The disk was full."], is_stopped: [null, true], status: [null, "egress_ended"] },
    ],
  ])(
    "create: the egress is first created; initial field values as [null, value] pairs; with %s",
    async (_, more, changes) => {
      travelTo("2026-01-31T10:30:00.123Z");
      const clinic = await anOrganization();
      const isNamed = "error" in more;
      const storage_key = `${clinic.slug}/secret`;
      const named = isNamed ? { user_id: clinic.admin.user_id, storage_key } : {};
      const { egress_id, audit } = await anAuditedEgress({ ...more, ...named }, clinic);
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
    },
  );

  it("update: egress fields are modified; [old, new] pairs for each changed field", async () => {
    const { clinic, report, entries } = await anAuditedEgress();
    travelTo(timeAhead("10:00:01.000"));
    const end = { status: "egress_ended", is_stopped: true, ended_at: ENDED_AT };
    await given(report({ ...end, user_id: clinic.admin.user_id }));
    travelTo(timeAhead("10:00:02.000"));
    await given(report({ ...end, error: "The disk was full." }));
    travelTo(timeAhead("10:00:03.000"));
    await given(report({ error: null, ended_at: "2026-01-31T10:00:07Z" }));
    const entry = (user_id: number, second: number, object_changes: object) => ({
      id: expect.any(Number),
      event: "update",
      user_id,
      object_changes,
      created_at: `${dateAhead()}T10:00:0${second}.000Z`,
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

  it("read: the egress is accessed (the single-egress endpoint, for download); null", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const call = await aCall(clinic, {}, paula);
    const path = `${call.path}/egresses/${(await call.addEgress()).id}`;
    const client = await clinic.addClient(paula.id);
    travelTo(timeAhead("10:00:01.000"));
    await given(client.get(path));
    const { audit_logs } = await given(clinic.client.get(`${path}/audit_logs`));
    expect(audit_logs).toHaveLength(2);
    expect(audit_logs[0]).toEqual({
      id: expect.any(Number),
      event: "read",
      user_id: paula.user_id,
      object_changes: null,
      created_at: timeAhead("10:00:01.000"),
    });
  });
});
