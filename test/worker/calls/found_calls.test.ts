import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { CALLS_LOOKED_THROUGH } from "../../../src/limits.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { digestOf } from "../support/database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { insertMany } from "../support/rows.ts";
import { keyOf, planVisit } from "../support/visits.ts";

type Client = Pick<Organization["client"], "get">;

const idsOf = (calls: { id: number }[]) => calls.map(({ id }) => id);

async function pagesOf(client: Client, path: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let after = ""; ; ) {
    const { calls, next_after } = await given(client.get(`${path}&after=${after}`));
    pages.push(idsOf(calls));
    if (next_after === null) return pages;
    after = next_after;
  }
}

describe("GET /calls", () => {
  const FILTERS = ["", "?from=2026-01-01", "?external_reference=visit-1", "?participant_reference=patient-1"];

  it("lists a call that a substitute held for the visit's holder and their assistants, and once, with every filter", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const assist = (name: string, assists: number[]) =>
      clinic.addUser(name, ["provider_assistant"], { assists });
    const [ofPaula, ofBoth] = [await assist("Al", [paula.id]), await assist("Bo", [paula.id, peter.id])];
    const visit = await planVisit(clinic, (await clinic.addRoom()).slug, {
      organization_user_id: paula.id,
      participants: [{ role: "recipient", display_name: "Rita", external_reference: "patient-1" }],
    });
    const ids: number[] = [];
    for (const [n, by] of [paula, peter, paula, peter].entries()) {
      const participants = [{ key: `${n}:${keyOf(visit)}` }];
      ids.unshift((await aCall(clinic, { participants, external_reference: "visit-1" }, by)).id);
    }
    const own = (await aCall(clinic, { participants: [] }, peter)).id;
    const listed = async (by: { id: number }) => {
      const client = await clinic.addClient(by.id);
      const lists = await Promise.all(
        FILTERS.map((filter) => pagesOf(client, `/calls?per_page=1&${filter.slice(1)}`)),
      );
      return lists.map((pages) => pages.flat());
    };
    const theirs = [[own, ...ids], [own, ...ids], ids, ids];
    expect(await listed(paula)).toEqual([ids, ids, ids, ids]);
    expect(await listed(ofPaula)).toEqual([ids, ids, ids, ids]);
    expect(await listed(ofBoth)).toEqual(theirs);
    // The substitute lists the calls that they held, but not the other calls of the visit.
    const held = [ids[0], ids[2]];
    expect(await listed(peter)).toEqual([[own, ...held], [own, ...held], held, held]);
    await given(clinic.client.put(`/visits/${visit.id}`, { visit: { organization_user_id: peter.id } }));
    expect(await listed(peter)).toEqual(theirs);
    const stays = [ids[1], ids[3]];
    expect(await listed(paula)).toEqual([stays, stays, stays, stays]);
  });

  it.each(["external_reference", "participant_reference"])(
    "searches a limited number of calls per request by %s, and finds all of them over several pages",
    async (parameter) => {
      const clinic = await anOrganization();
      const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
      const participants = [aRecipient({ external_reference: "popular" })];
      const { id, room } = await aCall(clinic, { external_reference: "popular", participants }, paula);
      const others = 2 * CALLS_LOOKED_THROUGH;
      await insertMany(
        others,
        `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, external_reference, created_at, updated_at)
         select ?1, 'other-' || n, ?2, ?3, ?4 + n, 'popular', 1, 1 from counter`,
        clinic.id,
        peter.id,
        room.id,
        Date.now(),
      );
      await env.DB.prepare(
        `insert into recorded_participants (organization_id, key, waiting_room_id, call_id, display_name, role, external_reference, reference_digest, created_at, updated_at)
         select organization_id, key, waiting_room_id, id, 'Rita', 'recipient', 'popular', ?2, 1, 1 from calls where organization_user_id = ?1`,
      )
        .bind(peter.id, await digestOf("popular"))
        .run();
      const client = await clinic.addClient(paula.id);
      expect(await pagesOf(client, `/calls?${parameter}=popular`)).toEqual([[], [], [id]]);
      const all = await pagesOf(clinic.client, `/calls?${parameter}=popular&per_page=100`);
      expect(new Set(all.flat()).size).toBe(others + 1);
      expect(all.slice(0, -1).every((page) => page.length === 100)).toBe(true);
    },
  );
});
