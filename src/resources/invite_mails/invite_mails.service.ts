import type { Context } from "../../context.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { findInTurns } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { type Mailer, sendMail } from "../../mail/mail.ts";
import { DUE_TOLERANCE, MAIL_LEASE, MAIL_PORTION, MAIL_TURN, MAILS_AT_ONCE } from "../../tuning.ts";
import { linkMadeAt } from "../invites/invites.merge.ts";
import { withAcceptUrl } from "../invites/invites.tokens.ts";
import { inviteMail } from "./invite_mails.content.ts";
import { afterFailedMail } from "./invite_mails.merge.ts";
import {
  type DueMail,
  dueMails,
  endMailLease,
  type LeasedMail,
  leaseMail,
  type MailLease,
  recordSent,
  refuseMail,
} from "./invite_mails.sql.ts";

/*
 * D1 knows which mails are due. Each is leased right before it is sent: of several senders one gets it, and none if the
 * invite was used, removed or expired. A sender that dies leaves its lease, and the mail is due again when that is over. It may
 * have been sent, so there is only one more attempt.
 */

/**
 * Sends a portion of the mails that are due, or as many of it as can be begun in its time.
 *
 * @returns whether more may be due
 */
export async function sendDueMails(context: Context): Promise<boolean> {
  const { mailer } = context;
  if (!mailer) return false;
  const endAt = Date.now() + MAIL_TURN;
  const due = await findDueMails(context, MAIL_PORTION);
  const waiting = due.values();
  const sendOneByOne = async () => {
    for (const mail of waiting) {
      await sendIfLeased({ ...context, mailer, now: Date.now() }, mail);
      if (Date.now() >= endAt) return;
    }
  };
  const results = await Promise.allSettled(Array.from({ length: MAILS_AT_ONCE }, sendOneByOne));
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  return due.length === MAIL_PORTION || !waiting.next().done;
}

/** Those of each organization in its turn. */
export const findDueMails = ({ db, now }: Context, portion: number): Promise<DueMail[]> =>
  findInTurns(portion, (turn) => runAll(db, dueMails({ ...turn, due_before: now + DUE_TOLERANCE })));

async function sendIfLeased(context: Context & { mailer: Mailer }, due: DueMail): Promise<void> {
  const { db, now } = context;
  const { id, next_mail_at } = due;
  const lease: MailLease = { id, next_mail_at, now, lease_until: now + MAIL_LEASE };
  const [[leased], [refused]] = await runBatch(db, [leaseMail(lease), refuseMail(lease)]);
  if (refused)
    log("invite_mail_failed", {
      ...idsOfMail(due),
      reason: due.expires_at <= now ? "expired" : "outcomes_unknown",
    });
  if (leased) await sendLeased(context, due, lease, leased);
}

const idsOfMail = ({ id, owner_id }: DueMail) => ({ organization_id: owner_id, invite_id: id });

async function sendLeased(
  context: Context & { mailer: Mailer },
  due: DueMail,
  { id, lease_until }: MailLease,
  leased: LeasedMail,
): Promise<void> {
  const { db, settings, mailer } = context;
  const ids = idsOfMail(due);
  const outcome = await sendMail(mailer, inviteMail(await withAcceptUrl(settings, leased)));
  if (outcome.state === "sent") {
    await runAll(db, recordSent({ id, link_made_at: linkMadeAt(due), mailed_at: Date.now() }));
    return;
  }
  if (outcome.state === "unknown") {
    // The lease stays, as that of a sender that died.
    log("invite_mail_unanswered", ids);
    return;
  }
  const next = afterFailedMail(due, outcome, Date.now());
  const said = { ...ids, reason: outcome.reason };
  if (next.mail_status === "failed") log("invite_mail_failed", said);
  else log("invite_mail_deferred", said);
  await runAll(db, endMailLease({ id, lease_until, ...next }));
}
