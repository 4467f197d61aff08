import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/units.ts";
import { platform } from "../support/api.ts";
import { aCall, ENDED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { accept } from "../support/invites.ts";
import { aClinicWithMail } from "../support/mails.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { aClinicWithQueue, invitesOf } from "../support/queue.ts";
import { aClinicWithSignIn, exchange, expectExchanged, redeem } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { planVisit, redeem as redeemVisit, tokenOfLink } from "../support/visits.ts";
import { aClinicWithReceiver, status } from "../support/webhooks.ts";

const SUSPENDED = "The organization is suspended: ask the people who run the service to resume it";

const setSuspended = ({ id }: { id: number }, is_suspended: boolean) =>
  given(platform.put(`/organizations/${id}`, { organization: { is_suspended } }));

function expectSuspended(answer: Awaited<ReturnType<Organization["client"]["get"]>>) {
  expectRefusal(answer, 403, SUSPENDED);
  expect(answer.headers.get("Error-Code")).toBe("organization_suspended");
}

it("An organization can neither see nor change is_suspended", async () => {
  const { client } = await anOrganization();
  const own = await client.put("/organization", { organization: { is_suspended: true } });
  expectRefusal(own, 422, /^organization.is_suspended: cannot be changed here; only the people who run/);
  expect(await given(client.get("/organization"))).not.toHaveProperty("is_suspended");
});

describe("A suspended organization", () => {
  it("lets nobody sign in, accept an invite, use the link of a visit, or come to a waiting room, but has its calls recorded", async () => {
    const { clinic, provider, client, email } = await aClinicWithSignIn();
    const code = await expectExchanged(client, await provider.token({ email }));
    const invite = await clinic.addInvite();
    const room = await clinic.addRoom();
    const token = tokenOfLink(await planVisit(clinic, room.slug));
    await setSuspended(clinic, true);
    expectSuspended(await redeem(code));
    await setSuspended(clinic, false);
    await given(redeem(code));
    const doors = [
      () => accept(invite),
      () => redeemVisit(token),
      () => platform.get(`/waiting_rooms/${room.slug}`),
    ];
    const call = await aCall(clinic, { ended_at: undefined });
    await setSuspended(clinic, true);
    for (const door of doors) expectSuspended(await changingNothing(door));
    // Its calls are recorded as they were.
    await given(call.report({ ended_at: ENDED_AT }));
    await given(call.reportTranscript({ summary: "All is well.", is_final: true, lines: [] }));
    await setSuspended(clinic, false);
    for (const door of doors) await given(door());
    expect(await given(client.get(call.path))).toMatchObject({ is_ended: true, ended_at: ENDED_AT });
    await given(client.get(`${call.path}/transcript`));
    await setSuspended(clinic, true);
    // Isolates remember a client for a minute.
    travelTo(fromNow(1.1));
    expectSuspended(await exchange(client, await provider.token({ email })));
  });

  it("does not lose a webhook endpoint at the first failure after it, because of an earlier one", async () => {
    const { clinic, endpoint } = await aClinicWithReceiver(() => status(500));
    await clinic.makeEvents();
    await clinic.queue.pass(MINUTE);
    await setSuspended(clinic, true);
    await clinic.queue.pass(6 * 24 * 60 * MINUTE);
    await setSuspended(clinic, false);
    await clinic.makeEvents();
    await clinic.queue.pass(MINUTE);
    expect(await clinic.endpoint(endpoint)).toMatchObject({ is_active: true, disabled_reason: null });
  });

  it("keeps its invite mails until it is resumed", async () => {
    const clinic = await aClinicWithMail();
    const invite = await clinic.invite();
    await setSuspended(clinic, true);
    await clinic.mails.pass(MINUTE);
    await clinic.mails.runCron();
    await clinic.mails.pass(MINUTE);
    expect(clinic.provider.to(invite)).toEqual([]);
    await setSuspended(clinic, false);
    await clinic.mailsUntilDone();
    expect(clinic.provider.to(invite)).toHaveLength(1);
  });

  it("keeps the rows of its bulk invites until it is resumed", async () => {
    const clinic = await aClinicWithQueue();
    const bulk = await clinic.bulkInvite(invitesOf(3));
    await setSuspended(clinic, true);
    await clinic.consume(bulk.messages);
    await setSuspended(clinic, false);
    expect(await clinic.progressOf(bulk)).toMatchObject({ status: "pending", created_count: 0 });
    await clinic.consume(bulk.messages);
    expect(await clinic.progressOf(bulk)).toMatchObject({ status: "completed", created_count: 3 });
  });
});
