import { expect, it } from "vitest";
import { EGRESSES_LOOKED_THROUGH } from "../../../src/limits.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { anOrganization, given } from "../support/organization.ts";
import { insertMany } from "../support/rows.ts";

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
