import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { aCall } from "../support/calls.ts";
import { anOrganization, given } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

/** The model plays legal holds, and the tests of results show what they protect. */
describe("A row of legal_holds, even for an operator with access to the database,", () => {
  async function aHeldCall() {
    const call = await aCall(await anOrganization());
    await given(call.hold({ reason: "Case 2026-118 of the district court" }));
    const expectRefused = (statement: string) =>
      changingNothing(() =>
        expect(env.DB.prepare(statement).bind(call.id).run()).rejects.toThrow(/legal hold/),
      );
    return { ...call, expectRefused };
  }

  it.each([
    ["deleted", "delete from legal_holds where call_id = ?"],
    ["moved", "update legal_holds set call_id = call_id + 1 where call_id = ?"],
    ["taken from the platform", "update legal_holds set begun_by = 'organization' where call_id = ?"],
    ["made older", "update legal_holds set began_at = 0 where call_id = ?"],
    [
      "replaced",
      "insert or replace into legal_holds (organization_id, call_id, begun_by, began_at) select organization_id, call_id, begun_by, 0 from legal_holds where call_id = ?",
    ],
  ])("cannot be %s", async (_, statement) => {
    await (await aHeldCall()).expectRefused(statement);
  });

  it.each(["ended_at = null", "ended_at = 7", "reason = 'Another'"])(
    "does not change once the hold has ended: %s",
    async (change) => {
      const { release, expectRefused } = await aHeldCall();
      await given(release());
      await expectRefused(`update legal_holds set ${change} where call_id = ?`);
    },
  );
});
