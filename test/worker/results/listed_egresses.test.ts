import { describe, expect, it } from "vitest";
import { EGRESSES_LOOKED_THROUGH } from "../../../src/limits.ts";
import { entriesAbout } from "../support/access_logs.ts";
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

describe("GET /egresses", () => {
  it("lists the visible recordings by id, as in their call's list, plus the ids of their path", async () => {
    const clinic = await anOrganization();
    const late = await aRecordedCall(clinic, "2026-02-02");
    const early = await aRecordedCall(clinic, "2026-01-20");
    await aRecordedCall(clinic, "2026-01-20", { ended_at: undefined });
    await aRecordedCall(clinic, "2026-01-20", { participants: [aRecipient({ recording_consent: false })] });
    await aRecordedCall(await anOrganization(), "2026-01-20");
    const { egresses, next_after } = await given(clinic.client.get("/egresses"));
    expect(egresses).toEqual(
      [late, early].map(({ id, owner, egress }) => ({
        ...egress,
        call_id: id,
        organization_user_id: owner.id,
      })),
    );
    expect(next_after).toBeNull();
  });

  it("filters by the date on which the call started, both ends included", async () => {
    const clinic = await anOrganization();
    const calls = [];
    for (const day of ["2026-01-02", "2026-01-04", "2026-01-03"])
      calls.push(await aRecordedCall(clinic, day));
    const [second, fourth, third] = calls.map(({ egress }) => egress.id);
    const found = async (query: string) => idsOf(await given(clinic.client.get(`/egresses?${query}`)));
    expect(await found("from=2026-01-03")).toEqual([fourth, third]);
    expect(await found("to=2026-01-03")).toEqual([second, third]);
    expect(await found("from=2026-01-02&to=2026-01-02")).toEqual([second]);
    expect(await clinic.client.get("/egresses?from=2026-01-03&to=2026-01-02")).toMatchObject({ status: 400 });
  });

  it("returns pages", async () => {
    const clinic = await anOrganization();
    const { addEgress, egress } = await aRecordedCall(clinic, "2026-01-02");
    const [second, third] = [await addEgress(), await addEgress()];
    const first = await given(clinic.client.get("/egresses?per_page=2"));
    expect([idsOf(first), first.next_after]).toEqual([[egress.id, second.id], second.id]);
    const rest = await given(clinic.client.get(`/egresses?per_page=2&after=${second.id}`));
    expect([idsOf(rest), rest.next_after]).toEqual([[third.id], null]);
  });

  it("lists only recordings within the client's reach", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const own = await aRecordedCall(clinic, "2026-01-02", {}, paula);
    await aRecordedCall(clinic, "2026-01-02");
    const assistant = await clinic.addUser("Ada Assistant", ["provider_assistant"], { assists: [paula.id] });
    for (const { id } of [paula, assistant])
      expect(idsOf(await given((await clinic.addClient(id)).get("/egresses")))).toEqual([own.egress.id]);
  });

  it("writes an access log entry for each request, with the dates of its filter", async () => {
    const clinic = await anOrganization();
    await given(clinic.client.get("/egresses"));
    await given(clinic.client.get("/egresses?from=2026-01-30&to=2026-01-31"));
    const list = { resource_id: null, call_id: null, api_client_id: clinic.client.id, shown: null };
    expect(await entriesAbout(clinic, "read", "egress")).toMatchObject([
      { ...list, from_date: null, to_date: null },
      { ...list, from_date: "2026-01-30", to_date: "2026-01-31" },
    ]);
  });

  it("finds a recording behind many hidden ones, page by page", async () => {
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
});
