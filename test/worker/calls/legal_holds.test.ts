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
