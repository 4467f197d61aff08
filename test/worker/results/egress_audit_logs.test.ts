import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { anAuditedEgress } from "../support/egresses.ts";
import { anOrganization, given } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

it("GET …/egresses/{egress_id}/audit_logs never shows the storage key or a URL, even in an update", async () => {
  const clinic = await anOrganization();
  const [storage_key, second] = [`${clinic.slug}/secret/first.wav`, `${clinic.slug}/secret/second.wav`];
  const { id, report, read, entries } = await anAuditedEgress({ storage_key }, clinic);
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

describe("An audit log entry, even for an operator with access to the database,", () => {
  const onDatabase = (query: string, ...values: unknown[]) =>
    env.DB.prepare(query)
      .bind(...values)
      .run();

  it("cannot be deleted with its egress", async () => {
    const { id } = await anAuditedEgress();
    const deletion = () => onDatabase("delete from egresses where id = ?", id);
    await changingNothing(() => expect(deletion()).rejects.toThrow());
  });

  it("is written for every change of an egress, by default with the System user", async () => {
    const { id, entries } = await anAuditedEgress();
    await onDatabase("update egresses set error = 'Lost.', updated_at = 1 where id = ?", id);
    expect(await entries()).toContainEqual(
      expect.objectContaining({ user_id: SYSTEM_USER_ID, object_changes: { error: [null, "Lost."] } }),
    );
  });

  it("cannot lack a user", async () => {
    const { clinic, id } = await anAuditedEgress();
    const unnamed = `insert into egress_audit_logs (organization_id, egress_id, event, created_at)
      values (?, ?, 'read', 1)`;
    await changingNothing(() => expect(onDatabase(unnamed, clinic.id, id)).rejects.toThrow(/NOT NULL/));
  });
});
