import * as z from "zod";
import type { Context } from "../../context.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { newTurn, type Turn } from "../../database/turns.ts";
import { nudgeDeliveries } from "../../delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { log } from "../../http/log.ts";
import { type Mailer, sendMail } from "../../mail/mail.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudge, runToEnd, sendOrLog } from "../../queues/send.ts";
import { DUE_TOLERANCE, MAIL_LEASE, MAIL_PORTION, MAILS_AT_ONCE } from "../../tuning.ts";
import { afterFailedMail, linkMadeAt } from "../invites/invites.merge.ts";
import { withAcceptUrl } from "../invites/invites.tokens.ts";
import { inviteMail } from "./invite_mails.content.ts";
import * as sql from "./invite_mails.sql.ts";

/** D1 knows which mails are due, so a lost or duplicate message does no harm. */
const inviteMailMessage = lazily(() => z.object({ schema: z.literal("invite_mails/1") }));

const MESSAGE: z.infer<ReturnType<typeof inviteMailMessage>> = { schema: "invite_mails/1" };

export async function nudgeInviteMails({
  mailer,
  inviteMailQueue,
}: Pick<Context, "mailer" | "inviteMailQueue">) {
  if (mailer) await nudge(inviteMailQueue, (delay) => sendMailMessage(inviteMailQueue, delay));
}

const sendMailMessage = (queue: Queue, delay: number) =>
  sendOrLog(queue, MESSAGE, delay, { queue: "invite-mails" });

export const consumeInviteMails = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, inviteMailMessage(), async (context) => {
    if (await sendDueMails(context)) await sendMailMessage(context.inviteMailQueue, 0);
    await nudgeDeliveries(context.webhookQueue);
  });

/** For the cron. Retries depend on it, because no other message is sent for them. */
export async function queueDueMails(context: Context): Promise<number> {
  if (!context.mailer || (await findDueMails(context, newTurn(1, 1))).length === 0) return 0;
  await sendMailMessage(context.inviteMailQueue, 0);
  return 1;
}

/*
 * Each mail is leased right before it is sent, so that only one sender gets it. If a sender dies, the mail is due again when
 * its lease is over. It may already have been sent, so it is attempted only once more.
 */

/** Returns whether more may be due. */
async function sendDueMails(context: Context): Promise<boolean> {
  const { mailer } = context;
  if (!mailer) return false;
  const due = await findDueMails(context, newTurn(MAIL_PORTION, MAIL_PORTION));
  const waiting = due.values();
  const sendOneByOne = async () => {
    for (const mail of waiting) await sendIfLeased({ ...context, mailer, now: Date.now() }, mail);
  };
  await runToEnd(Array.from({ length: MAILS_AT_ONCE }, sendOneByOne));
  return due.length === MAIL_PORTION;
}

const findDueMails = ({ db, now }: Context, turn: Turn): Promise<sql.DueMail[]> =>
  runAll(db, sql.dueMails({ ...turn, due_before: now + DUE_TOLERANCE }));

async function sendIfLeased(context: Context & { mailer: Mailer }, due: sql.DueMail): Promise<void> {
  const { db, now } = context;
  const { id, next_mail_at } = due;
  const lease: sql.MailLease = { id, next_mail_at, now, lease_until: now + MAIL_LEASE };
  const [[leased], [refused]] = await runBatch(db, [sql.leaseMail(lease), sql.refuseMail(lease)]);
  const reason = due.expires_at <= now ? "expired" : "outcomes_unknown";
  if (refused) log("invite_mail_failed", { ...idsOfMail(due), reason });
  if (leased) await sendLeased(context, due, lease, leased);
}

const idsOfMail = ({ id, organization_id }: sql.DueMail) => ({ organization_id, invite_id: id });

async function sendLeased(
  context: Context & { mailer: Mailer },
  due: sql.DueMail,
  { id, lease_until }: sql.MailLease,
  leased: sql.LeasedMail,
): Promise<void> {
  const { db, settings, mailer } = context;
  const ids = idsOfMail(due);
  const outcome = await sendMail(mailer, inviteMail(await withAcceptUrl(settings, leased)));
  if (outcome.state === "sent") {
    await runAll(db, sql.recordSent({ id, link_made_at: linkMadeAt(due), mailed_at: Date.now() }));
    return;
  }
  if (outcome.state === "unknown") {
    // The lease stays, as if the sender had died.
    log("invite_mail_unanswered", ids);
    return;
  }
  const next = afterFailedMail(due, outcome, Date.now());
  const said = { ...ids, reason: outcome.reason };
  if (next.mail_status === "failed") log("invite_mail_failed", said);
  else log("invite_mail_deferred", said);
  await runAll(db, sql.endMailLease({ id, lease_until, ...next }));
}
