import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { aCall, type Call } from "../support/calls.ts";
import { rowsOf } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const refer = (clinic: Organization, call: Call, external_reference: unknown) =>
  clinic.client.put(call.path, { call: { external_reference } });

describe("PUT …/calls/{call_id}", () => {
  it("cannot set a reference that was erased, and clearing it changes nothing", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "rita-2026" });
    await env.DB.prepare("update participants set erased_at = 1 where organization_id = ?")
      .bind(clinic.id)
      .run();
    expectRefusal(
      await changingNothing(() => refer(clinic, call, "rita-2026")),
      422,
      /^call\.external_reference: was erased/,
    );
    expect((await changingNothing(() => given(refer(clinic, call, null)))).external_reference).toBeNull();
  });

  it("writes the reference into no event", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "rita-2026" });
    await given(refer(clinic, call, "rita-2027"));
    const events = (await rowsOf(clinic.id)).find(({ name }) => name === "events")?.rows;
    expect(events?.length).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toMatch(/rita/);
  });
});
