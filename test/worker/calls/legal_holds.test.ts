import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { atOnce } from "../support/at_once.ts";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { timeAhead, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const REASON = "Case 2026-118 of the district court";
const BEGAN_AT = timeAhead("10:00:00.000");
const HELD = "The call is under legal hold: end the hold first";

/** A call under legal hold since `BEGAN_AT`, with a transcript that could be deleted otherwise. */
async function aHeldCall(legal_hold: object = { reason: REASON }) {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  await given(call.reportTranscript({ is_final: true, lines: [] }));
  travelTo(BEGAN_AT);
  const held = await given(call.hold(legal_hold));
  travelTo(timeAhead("10:00:00.000", 1));
  return {
    clinic,
    ...call,
    held,
    read: () => given(platform.get(call.url)),
    removeTranscript: () => platform.delete(`${call.url}/transcript`),
  };
}

const holdsOf = async ({ id }: { id: number }) =>
  (
    await env.DB.prepare("select reason, began_at, ended_at from legal_holds where call_id = ? order by id")
      .bind(id)
      .all()
  ).results;

it("The platform's GET …/calls/{key} returns the same as PUT …/calls/{key}, with the current hold", async () => {
  const call = await aCall(await anOrganization());
  const before = await given(call.report({}));
  expect(before.legal_hold).toBeNull();
  expect(await platform.get(call.url)).toMatchObject({ status: 200, body: before });
  const held = await given(call.hold({ reason: REASON }));
  expect(held).toEqual({
    ...before,
    legal_hold: { reason: REASON, began_at: expect.any(String), begun_by: "platform" },
  });
  expect(await given(platform.get(call.url))).toEqual(held);
  expect(await given(call.report({}))).toEqual(held);
});

describe("The platform's hold with PUT and DELETE …/legal_hold", () => {
  it("keeps its start when it is requested again, and takes a new reason if one is given", async () => {
    const call = await aHeldCall();
    const held = (reason: string | null) => ({ reason, began_at: BEGAN_AT, begun_by: "platform" });
    expect(call.held.legal_hold).toEqual(held(REASON));
    for (const again of [{}, { reason: REASON }]) await changingNothing(() => given(call.hold(again)));
    for (const reason of ["Case 2026-131", null])
      expect((await given(call.hold({ reason }))).legal_hold).toEqual(held(reason));
    expect(await holdsOf(call)).toHaveLength(1);
  });

  it("ends with DELETE, after which another hold can begin, also without a reason", async () => {
    const call = await aHeldCall();
    const ended_at = Date.now();
    expect(await call.release()).toMatchObject({ status: 204, body: null });
    expect((await call.read()).legal_hold).toBeNull();
    for (const { release } of [call, await aCall(call.clinic)])
      expect((await changingNothing(release)).status).toBe(204);
    const again = await given(call.hold({ reason: null }));
    const began_at = Date.now();
    expect(again.legal_hold).toMatchObject({ reason: null, began_at: new Date(began_at).toISOString() });
    expect(await holdsOf(call)).toEqual([
      { reason: REASON, began_at: Date.parse(BEGAN_AT), ended_at },
      { reason: null, began_at, ended_at: null },
    ]);
  });
});

describe("legal_hold in PUT …/calls/{key}", () => {
  it("begins a hold, in the first report too, and only once", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { legal_hold: true });
    const { legal_hold } = await given(call.report({}));
    expect(legal_hold).toEqual({ reason: null, began_at: expect.any(String), begun_by: "platform" });
    await changingNothing(() => given(call.report({ legal_hold: true })));
    expect(await holdsOf(call)).toHaveLength(1);
  });

  it("never ends or changes a running hold, whatever its value", async () => {
    const call = await aHeldCall();
    for (const said of [{ legal_hold: true }, { legal_hold: false }, { legal_hold: null }, {}])
      expect(await changingNothing(() => given(call.report(said)))).toEqual(call.held);
    expectRefusal(await call.removeTranscript(), 422, HELD);
  });
});

describe("The organization's hold with PUT and DELETE …/legal_hold", () => {
  /** A call with a transcript, in an organization with a client of each role. */
  async function aCallToHold() {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
    const call = await aCall(clinic, {}, paula);
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    const path = `${call.path}/legal_hold`;
    return {
      ...call,
      clinic,
      others: [await clinic.addClient(paula.id), await clinic.addClient(al.id)],
      hold: (legal_hold: object = {}, client = clinic.client) => client.put(path, { legal_hold }),
      release: (client = clinic.client) => client.delete(path),
      holdByPlatform: call.hold,
      releaseByPlatform: call.release,
      read: (client = clinic.client) => given(client.get(call.path)),
    };
  }

  it("is begun, changed and ended by administrators, and protects the call's results", async () => {
    const { clinic, hold, read, release, path } = await aCallToHold();
    const before = await read();
    expect(before.legal_hold).toBeNull();
    const legal_hold = { reason: REASON, began_at: expect.any(String), begun_by: "organization" };
    const held = await given(hold({ reason: REASON }));
    expect(held).toEqual({ ...before, legal_hold });
    expect(await read()).toEqual(held);
    for (const again of [{}, { reason: REASON }])
      expect(await changingNothing(() => given(hold(again)))).toEqual(held);
    expectRefusal(await changingNothing(() => clinic.client.delete(`${path}/transcript`)), 422, HELD);
    expect((await given(hold({ reason: null }))).legal_hold).toEqual({ ...held.legal_hold, reason: null });
    expect(await release()).toMatchObject({ status: 204, body: null });
    expect(await changingNothing(() => release())).toMatchObject({ status: 204 });
    expect(await read()).toEqual(before);
    await given(clinic.client.delete(`${path}/transcript`));
  });

  it("is hidden from other roles", async () => {
    const { others, hold, read } = await aCallToHold();
    await given(hold({ reason: REASON }));
    for (const client of others) expect((await read(client)).legal_hold).toBeNull();
  });

  it("neither ends nor changes a hold of the platform, however that began", async () => {
    const OF_PLATFORM = "The platform began this legal hold: only the platform can change or end it";
    for (const begin of ["hold", "report"] as const) {
      const { hold, release, read, holdByPlatform, report } = await aCallToHold();
      await given(begin === "hold" ? holdByPlatform({ reason: REASON }) : report({ legal_hold: true }));
      const held = await read();
      expect(held.legal_hold).toMatchObject({ begun_by: "platform" });
      for (const change of [{}, { reason: "Ours" }, { reason: null }])
        expectRefusal(await changingNothing(() => hold(change)), 422, OF_PLATFORM);
      expectRefusal(await changingNothing(() => release()), 422, OF_PLATFORM);
    }
  });

  it.each(["hold", "report"] as const)(
    "becomes the platform's when the platform begins one too: by %s",
    async (by) => {
      const { hold, release, read, holdByPlatform, releaseByPlatform, report } = await aCallToHold();
      const { legal_hold } = await given(hold({ reason: REASON }));
      const held = await given(by === "hold" ? holdByPlatform() : report({ legal_hold: true }));
      expect(held.legal_hold).toEqual({ ...legal_hold, begun_by: "platform" });
      expectRefusal(await release(), 422, /only the platform/);
      await given(releaseByPlatform());
      expect((await read()).legal_hold).toBeNull();
      await given(hold());
      await given(release());
    },
  );

  it("does not keep a report of the platform from beginning a hold after it has ended", async () => {
    const { hold, release, read, report } = await aCallToHold();
    await given(hold());
    await given(release());
    await given(report({ legal_hold: true }));
    expect((await read()).legal_hold).toMatchObject({ begun_by: "platform" });
  });

  it("is not begun again by a report after the platform ended it, as that report may be older", async () => {
    const { hold, releaseByPlatform, read, report } = await aCallToHold();
    await given(hold());
    await given(releaseByPlatform());
    await given(report({ legal_hold: true }));
    expect((await read()).legal_hold).toBeNull();
  });

  it("becomes a single hold of the platform if both begin it at once", async () => {
    const { hold, holdByPlatform, read, ...call } = await aCallToHold();
    await atOnce(20, (n) => (n % 2 ? hold() : holdByPlatform()));
    expect((await read()).legal_hold.begun_by).toBe("platform");
    expect(await holdsOf(call)).toHaveLength(1);
  });
});

describe("A row of legal_holds", () => {
  it.each([
    ["deleted", "delete from legal_holds where call_id = ?"],
    ["moved", "update legal_holds set call_id = call_id + 1 where call_id = ?"],
    ["taken from the platform", "update legal_holds set begun_by = 'organization' where call_id = ?"],
    ["made older", "update legal_holds set began_at = 0 where call_id = ?"],
    [
      "replaced",
      "insert or replace into legal_holds (organization_id, call_id, begun_by, began_at) select organization_id, call_id, begun_by, 0 from legal_holds where call_id = ?",
    ],
  ])("cannot be %s, even by an operator with access to the database", async (_, statement) => {
    const { id } = await aHeldCall();
    await changingNothing(() =>
      expect(env.DB.prepare(statement).bind(id).run()).rejects.toThrow(/legal hold/),
    );
  });

  it.each(["ended_at = null", "ended_at = 7", "reason = 'Another'"])(
    "does not change once the hold has ended: %s",
    async (change) => {
      const call = await aHeldCall();
      await given(call.release());
      const statement = env.DB.prepare(`update legal_holds set ${change} where call_id = ?`).bind(call.id);
      await changingNothing(() => expect(statement.run()).rejects.toThrow(/legal hold/));
    },
  );
});
