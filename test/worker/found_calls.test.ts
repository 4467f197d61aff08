import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { aCall, aRecipient } from "./support/calls.ts";
import { expectGone, expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";

type Client = Pick<Organization["client"], "get">;

async function found(client: Client, path: string): Promise<number[]> {
  const { calls, pagination } = await given(client.get(path));
  expect(pagination.total_count).toBe(calls.length);
  return calls.map(({ id }: { id: number }) => id);
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

describe("The calls of one user and of all", () => {
  it("are found by dates, both ends included", async () => {
    const { expectFound, last, late, early, first } = await aClinicOfCalls();
    await expectFound("", [last, late, early, first], [last, early]);
    await expectFound("?from=2026-02-01&to=2026-02-01", [late, early], [early]);
    await expectFound("?from=2026-02-02", [last], [last]);
    await expectFound("?to=2026-01-31", [first], []);
    await expectFound("?from=2026-03-01&to=2026-03-31", [], []);
    await expectFound("?from=&to=&external_reference=", [last, late, early, first], [last, early]);
  });

  it("are found by the reference of the call, which is compared exactly, and by dates besides", async () => {
    const { expectFound, last, late } = await aClinicOfCalls();
    await expectFound("?external_reference=visit-1", [last, late], [last]);
    await expectFound("?external_reference=visit-1&to=2026-02-01", [late], []);
    for (const other of ["Visit-1", "visit-1%20", "visit-", "visit-%25", "visit-2"])
      await expectFound(`?external_reference=${other}`, [], []);
  });

  it("are found by the reference of a participant, each once, alone and with the others", async () => {
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
  ])("are refused with ?%s", async (query, text) => {
    const { client, admin } = await anOrganization();
    for (const path of ["/calls", `/organization_users/${admin.id}/calls`])
      expectRefusal(await client.get(`${path}?${query}`), 400, text);
  });
});

describe("The calls of all whom a client reaches", () => {
  const FILTERS = ["", "?from=2026-01-01", "?external_reference=visit-1", "?participant_reference=patient-1"];

  it("are those of the users that its role allows, whatever they are found by", async () => {
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

  it("are served in pages, of one caller as of another", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const assistant = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id, peter.id] });
    const ids: number[] = [];
    for (const by of [paula, paula, peter, paula, peter]) ids.unshift((await aCall(clinic, {}, by)).id);
    for (const client of [clinic.client, await clinic.addClient(assistant.id)])
      for (const [page, from] of [0, 2, 4, 6].entries()) {
        const { calls, pagination } = await given(client.get(`/calls?per_page=2&page=${page + 1}`));
        expect(calls.map(({ id }: { id: number }) => id)).toEqual(ids.slice(from, from + 2));
        expect(pagination).toEqual({ current_page: page + 1, per_page: 2, total_pages: 3, total_count: 5 });
      }
  });

  it("move with a report that corrects whose call it is, and stay when the membership of their owner ends", async () => {
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
