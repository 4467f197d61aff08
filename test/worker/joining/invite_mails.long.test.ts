import { expect, it } from "vitest";
import { MINUTE } from "../../../src/units.ts";
import { aMailProvider, aMailWorker, MAIL_FROM } from "../support/mails.ts";
import { anInvite, given } from "../support/organization.ts";
import { aClinicWithQueue } from "../support/queue.ts";

it("A thousand people of a bulk invite each get one mail, even if a fifth of all attempts fail temporarily", async () => {
  const errors = ["E_RATE_LIMIT_EXCEEDED", "E_DAILY_LIMIT_EXCEEDED", "E_INTERNAL_SERVER_ERROR"];
  const attempts = new Map<string, number[]>();
  let n = 0;
  const provider = aMailProvider(({ to, at }) => {
    attempts.set(to, [...(attempts.get(to) ?? []), at]);
    return n++ % 5 === 0 ? errors[n % errors.length] : undefined;
  });
  const mails = aMailWorker({ EMAIL: provider.binding });
  const { INVITE_MAILS } = mails.bindings;
  const clinic = await aClinicWithQueue({ MAIL_FROM, EMAIL: provider.binding, INVITE_MAILS });
  const invites = Array.from({ length: 1000 }, () => anInvite());
  const { messages, ...bulkInvite } = await clinic.bulkInvite(invites);
  for (const message of messages) await clinic.consume([message, message]);
  expect(await clinic.progressOf(bulkInvite)).toMatchObject({ created_count: 1000, failed_count: 0 });
  await mails.passUntilDone(clinic);
  const mailed = provider.sent.map(({ to }) => to);
  expect(mailed.toSorted()).toEqual(invites.map(({ email }) => email).toSorted());
  const pauses = [...attempts.values()].map((times) =>
    times.slice(1).map((time, each) => time - (times[each] as number)),
  );
  expect(pauses.some((each) => each.length > 1)).toBe(true);
  for (const each of pauses)
    for (const [retry, pause] of each.entries())
      expect(pause).toBeGreaterThanOrEqual(5 * MINUTE * 2 ** retry);
  const { events } = await given(clinic.client.get("/events?type=invite.mail_failed"));
  expect(events).toEqual([]);
});
