import { expect, it } from "vitest";
import { EGRESSES_LOOKED_THROUGH } from "../../../src/limits.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { insertMany } from "../support/rows.ts";

const idsOf = ({ egresses }: { egresses: { id: number }[] }) => egresses.map(({ id }) => id);

/** A call that started on this day, with a recording. */
async function aRecordedCall(clinic: Organization, day: string, call: object = {}, by?: { id: number }) {
  const dates = { started_at: `${day}T23:59:59.999Z`, ended_at: `${day.slice(0, 7)}-28T10:00:00Z` };
  const recorded = await aCall(clinic, { ...dates, ...call }, by);
  const { url: _, ...egress } = await recorded.addEgress();
  return { ...recorded, egress };
}

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
  const { egress } = await aRecordedCall(clinic, "2026-01-02");
  const first = await given(clinic.client.get("/egresses"));
  expect([idsOf(first), first.next_after]).toEqual([[], egress.id - 1]);
  const next = await given(clinic.client.get(`/egresses?after=${first.next_after}`));
  expect([idsOf(next), next.next_after]).toEqual([[egress.id], null]);
});
