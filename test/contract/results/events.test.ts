import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { ENDED_AT } from "../../worker/support/calls.ts";
import { anAuditedEgress } from "../../worker/support/egresses.ts";
import { anOrganization, given } from "../../worker/support/organization.ts";
import { dateAhead, timeAhead, travelTo } from "../../worker/support/time.ts";

describe("Events: The egress audit trail records three event kinds, readable through the audit log endpoint", () => {
  it("create: the egress is first created; initial field values as [null, value] pairs", async () => {
    travelTo("2026-01-31T10:30:00.123Z");
    const clinic = await anOrganization();
    const { user_id } = clinic.admin;
    const end = { error: "The disk was full.", is_stopped: true, status: "egress_ended", ended_at: ENDED_AT };
    const named = await anAuditedEgress({ ...end, user_id, storage_key: `${clinic.slug}/secret` }, clinic);
    expect((await named.audit()).body).toEqual({
      audit_logs: [
        {
          id: expect.any(Number),
          event: "create",
          user_id,
          object_changes: {
            egress_id: [null, named.egress_id],
            status: [null, "egress_ended"],
            is_stopped: [null, true],
            ended_at: [null, ENDED_AT],
            error: [null, "The disk was full."],
          },
          created_at: "2026-01-31T10:30:00.123Z",
        },
      ],
      pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 },
    });
    // The System user made the change if the report names nobody.
    const { entries } = await anAuditedEgress({}, clinic);
    expect(await entries()).toMatchObject([{ event: "create", user_id: SYSTEM_USER_ID }]);
  });

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
    const { clinic, call, id, entries } = await anAuditedEgress();
    const { user_id } = await given(clinic.client.get(`/organization_users/${call.owner.id}`));
    const provider = await clinic.addClient(call.owner.id);
    travelTo(timeAhead("10:00:01.000"));
    await given(provider.get(`${call.path}/egresses/${id}`));
    const [newest, ...others] = await entries();
    expect(others).toHaveLength(1);
    expect(newest).toEqual({
      id: expect.any(Number),
      event: "read",
      user_id,
      object_changes: null,
      created_at: timeAhead("10:00:01.000"),
    });
  });
});
