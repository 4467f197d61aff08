import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { EGRESSES_LOOKED_THROUGH } from "../../../src/limits.ts";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { anAuditedEgress, anEndedEgress } from "../support/egresses.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { insertMany } from "../support/rows.ts";
import { changingNothing, changingOnlyTheLog } from "../support/unchanged.ts";

it("A later PUT …/egresses/{egress_id} sets, keeps and clears started_at, duration and size, without an entry in the audit log", async () => {
  const { report, reported, get, list, audit } = await anEndedEgress();
  const file = { started_at: "2026-01-31T10:30:02.250+01:00", duration: 12.34567, size: 104_857_600 };
  const described = { started_at: "2026-01-31T09:30:02.250Z", duration: 12.346, size: 104_857_600 };
  const answer = await given(report(file));
  expect(answer).toEqual({ ...reported, ...described, updated_at: aTimestamp });
  await changingNothing(() => given(report(file)));
  await changingNothing(() => given(report({})));
  expect((await get(reported.id)).body).toMatchObject(described);
  expect((await list()).body.egresses).toEqual([answer]);
  const cleared = await given(report({ started_at: null, duration: null, size: null }));
  expect(cleared).toEqual({ ...reported, updated_at: aTimestamp });
  // The entry for the end of the recording.
  expect((await given(audit(reported.id, "?event=update"))).audit_logs).toHaveLength(1);
});

describe("GET …/egresses/{id}", () => {
  it.each([
    ["visits/2026/übung (1)'s*!.wav", "visits/2026/%C3%BCbung%20%281%29%27s%2A%21.wav"],
    ["a..b/...wav", "a..b/...wav"],
    ["what?#now&then+%2e%2e/x.wav", "what%3F%23now%26then%2B%252e%252e/x.wav"],
    ["..\\..\\x.wav", "..%5C..%5Cx.wav"],
    ["https:/elsewhere.test", "https%3A/elsewhere.test"],
  ])("links to this file in this bucket, whatever its key: %s", async (name, encoded) => {
    const { clinic, report, reported, get } = await anEndedEgress();
    await given(report({ storage_key: `${clinic.slug}/${name}` }));
    const url = new URL((await get(reported.id)).body.url);
    expect(url.origin).toBe("https://service.test");
    expect(url.pathname).toBe(`/cdn-cgi/local/r2/s3/recordings/${clinic.slug}/${encoded}`);
    expect(url.hash).toBe("");
    expect([...url.searchParams.keys()]).toHaveLength(8);
  });

  it.each([
    ["is refused by the database", "abort, 'no room for entries'"],
    ["is lost without an error", "ignore"],
  ])("returns no URL if its entry %s", async (_, raise) => {
    const { reported, get } = await anEndedEgress();
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(async () => {
      logged.mockRestore();
      await env.DB.prepare("drop trigger no_reads").run();
    });
    await env.DB.prepare(
      `create trigger no_reads before insert on egress_audit_logs when new.event = 'read'
      begin select raise(${raise}); end`,
    ).run();
    expectRefusal(await changingOnlyTheLog(() => get(reported.id)), 500, "Internal server error");
    expect(logged).toHaveBeenCalledOnce();
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/X-Amz|\.wav/);
  });
});

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

const idsOf = ({ egresses }: { egresses: { id: number }[] }) => egresses.map(({ id }) => id);

it("GET /egresses finds a recording behind many hidden ones, page by page", async () => {
  const clinic = await anOrganization();
  const refused = await aCall(clinic, { participants: [aRecipient({ recording_consent: false })] });
  await insertMany(
    EGRESSES_LOOKED_THROUGH,
    `insert into egresses (organization_id, call_id, egress_id, status, is_stopped, created_at, updated_at)
     select ?1, ?2, 'EG-' || n, 'egress_ended', 1, n, n from counter`,
    clinic.id,
    refused.id,
  );
  const egress = await (await aCall(clinic)).addEgress();
  const first = await given(clinic.client.get("/egresses"));
  expect([idsOf(first), first.next_after]).toEqual([[], egress.id - 1]);
  const next = await given(clinic.client.get(`/egresses?after=${first.next_after}`));
  expect([idsOf(next), next.next_after]).toEqual([[egress.id], null]);
});
