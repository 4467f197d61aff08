import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { CALLS_LOOKED_THROUGH } from "../../../src/limits.ts";
import { platform } from "../support/api.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { digestOf } from "../support/database.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { insertMany } from "../support/rows.ts";
import { keyOf, planVisit } from "../support/visits.ts";

type Client = Pick<Organization["client"], "get">;

const idsOf = (calls: { id: number }[]) => calls.map(({ id }) => id);

async function found(client: Client, path: string): Promise<number[]> {
  const { calls, next_after } = await given(client.get(path));
  expect(next_after).toBeNull();
  return idsOf(calls);
}

async function pagesOf(client: Client, path: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let after = ""; ; ) {
    const { calls, next_after } = await given(client.get(`${path}&after=${after}`));
    pages.push(idsOf(calls));
    if (next_after === null) return pages;
    after = next_after;
  }
}

/** Calls of two providers on three dates, newest first. */
async function aClinicOfCalls() {
  const clinic = await anOrganization();
  const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
  const on = async (date: string, by: { id: number }, call: object = {}) =>
    (await aCall(clinic, { started_at: date, ended_at: undefined, ...call }, by)).id;
  const rita = (external_reference = "patient-1") => aRecipient({ external_reference });
  const last = await on("2026-02-02T00:00:00Z", paula, {
    external_reference: "visit-1",
    participants: [rita(), rita()],
  });
  const late = await on("2026-02-01T23:59:59.999Z", peter, {
    external_reference: "visit-1",
    participants: [rita("patient-2")],
  });
  const early = await on("2026-02-01T00:00:00Z", paula, { participants: [rita()] });
  const first = await on("2026-01-31T23:59:59.999Z", peter, { participants: [rita()] });
  const expectFound = async (query: string, all: number[], paulas: number[]) => {
    expect(await found(clinic.client, `/calls${query}`)).toEqual(all);
    expect(await found(clinic.client, `/organization_users/${paula.id}/calls${query}`)).toEqual(paulas);
  };
  return { clinic, expectFound, last, late, early, first };
}

describe("GET /calls and GET /organization_users/{organization_user_id}/calls", () => {
  it("filter by dates, both ends included", async () => {
    const { expectFound, last, late, early, first } = await aClinicOfCalls();
    await expectFound("", [last, late, early, first], [last, early]);
    await expectFound("?from=2026-02-01&to=2026-02-01", [late, early], [early]);
    await expectFound("?from=2026-02-02", [last], [last]);
    await expectFound("?to=2026-01-31", [first], []);
    await expectFound("?from=2026-03-01&to=2026-03-31", [], []);
    await expectFound("?from=&to=", [last, late, early, first], [last, early]);
  });

  it("filter by the call's exact external_reference, also together with dates", async () => {
    const { expectFound, last, late } = await aClinicOfCalls();
    await expectFound("?external_reference=visit-1", [last, late], [last]);
    await expectFound("?external_reference=visit-1&to=2026-02-01", [late], []);
    for (const other of ["Visit-1", "visit-1%20", "visit-", "visit-%25", "visit-2"])
      await expectFound(`?external_reference=${other}`, [], []);
  });

  it("filter by participant_reference, alone and with other filters, and list each call once", async () => {
    const { clinic, last, late, early, first } = await aClinicOfCalls();
    const find = (query: string) => found(clinic.client, `/calls?participant_reference=${query}`);
    expect(await find("patient-1")).toEqual([last, early, first]);
    expect(await find("patient-1&from=2026-02-01&to=2026-02-01")).toEqual([early]);
    expect(await find("patient-2")).toEqual([late]);
    expect(await find("patient-1&external_reference=visit-1")).toEqual([last]);
    expect(await find("patient-3")).toEqual([]);
    expect(await find("patient-2&external_reference=visit-2")).toEqual([]);
  });

  it.each([
    ["from=2026-02-02&to=2026-02-01", /^from: must not be after to$/],
    ["from=2026-02-01&from=2026-02-02", /^from: /],
    ["after=7", /^after: must be the `next_after` of a response$/],
    ["after=1769851800000.", /^after: /],
  ])("refuse ?%s", async (query, text) => {
    const { client, admin } = await anOrganization();
    for (const path of ["/calls", `/organization_users/${admin.id}/calls`])
      expectRefusal(await client.get(`${path}?${query}`), 400, text);
  });
});

describe("GET /calls", () => {
  const FILTERS = ["", "?from=2026-01-01", "?external_reference=visit-1", "?participant_reference=patient-1"];

  it("lists the calls of the users that the client's role allows, with every filter", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const assistant = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    const bo = await clinic.addUser("Bo", ["provider_assistant"]);
    const cy = await clinic.addUser("Cy", ["provider_assistant", "provider"], {
      assists: [paula.id, peter.id],
    });
    const call = { external_reference: "visit-1", participants: [aRecipient()] };
    const ids = new Map<number, number>();
    for (const by of [clinic.admin, paula, peter, assistant, bo, cy]) {
      const participants = [aRecipient({ external_reference: "patient-1" })];
      ids.set(by.id, (await aCall(clinic, { ...call, participants }, by)).id);
    }
    const reach = [
      [clinic.admin, [clinic.admin, paula, peter, assistant, bo, cy]],
      [paula, [paula]],
      [assistant, [paula, assistant]],
      [bo, [bo]],
      [cy, [paula, peter, cy]],
    ];
    for (const [caller, reached] of reach) {
      const client = await clinic.addClient(caller.id);
      const expected = reached.map(({ id }: { id: number }) => ids.get(id)).reverse();
      for (const filter of FILTERS) expect(await found(client, `/calls${filter}`)).toEqual(expected);
    }
  });

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

  it("returns pages to every role, with every filter", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const assistant = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id, peter.id] });
    const ids: number[] = [];
    // Some calls start at the same time.
    for (const [n, by] of [paula, paula, peter, paula, peter].entries()) {
      const participants = [1, 2].map(() => aRecipient({ external_reference: "patient-1" }));
      const started_at = `2026-02-0${1 + Math.floor(n / 2)}T12:00:00Z`;
      const call = { started_at, ended_at: undefined, external_reference: "visit-1", participants };
      ids.unshift((await aCall(clinic, call, by)).id);
    }
    for (const client of [clinic.client, await clinic.addClient(assistant.id)])
      for (const filter of FILTERS) {
        const pages = await pagesOf(client, `/calls?per_page=2&${filter.slice(1)}`);
        expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      }
    const own = `/organization_users/${paula.id}/calls?per_page=1`;
    for (const filter of FILTERS.slice(0, 3))
      expect(await pagesOf(clinic.client, `${own}&${filter.slice(1)}`)).toEqual(
        [ids[1], ids[3], ids[4]].map((id) => [id]),
      );
    // `after` does not widen the dates.
    const { next_after } = await given(clinic.client.get("/calls?per_page=1"));
    expect(await found(clinic.client, `/calls?to=2026-02-01&after=${next_after}`)).toEqual(ids.slice(3));
    expect(await found(clinic.client, `/calls?from=2026-02-02&after=${next_after}`)).toEqual(ids.slice(1, 3));
  });

  it("sorts by the corrected start, also with participant_reference", async () => {
    const clinic = await anOrganization();
    const call = async (started_at: string) =>
      aCall(clinic, {
        started_at,
        ended_at: undefined,
        participants: [aRecipient({ external_reference: "patient-1" })],
      });
    const [one, other] = [await call("2026-02-01T12:00:00Z"), await call("2026-02-02T12:00:00Z")];
    for (const path of ["/calls", "/calls?participant_reference=patient-1"])
      expect(await found(clinic.client, path)).toEqual([other.id, one.id]);
    await given(one.report({ started_at: "2026-02-03T12:00:00Z" }));
    for (const path of ["/calls", "/calls?participant_reference=patient-1"]) {
      expect(await found(clinic.client, path)).toEqual([one.id, other.id]);
      const dates = path.includes("?") ? "&from=2026-02-03" : "?from=2026-02-03";
      expect(await found(clinic.client, path + dates)).toEqual([one.id]);
    }
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

  it("moves a call to its corrected owner, and keeps a call whose owner's membership has ended", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const peters = await clinic.addClient(peter.id);
    const call = await aCall(clinic, { external_reference: "visit-1" }, paula);
    for (const filter of FILTERS.slice(0, 3)) expect(await found(peters, `/calls${filter}`)).toEqual([]);
    await given(call.report({ organization_user_id: peter.id }));
    for (const filter of FILTERS.slice(0, 3))
      expect(await found(peters, `/calls${filter}`)).toEqual([call.id]);
    expectGone(await platform.delete(`/organizations/${clinic.id}/users/${peter.id}`));
    for (const filter of FILTERS.slice(0, 3))
      expect(await found(clinic.client, `/calls${filter}`)).toEqual([call.id]);
  });
});
