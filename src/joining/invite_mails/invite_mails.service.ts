import type { Context } from "../../context.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { newTurn, type Turn } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { type Mailer, sendMail } from "../../mail/mail.ts";
import {
  DUE_TOLERANCE,
  MAIL_LEASE,
  MAIL_PORTION,
  MAIL_TURN,
  MAILS_AT_ONCE,
  OUTWARD_SHARE,
} from "../../tuning.ts";
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
 * D1 knows which mails are due. Each mail is leased right before it is sent: only one sender gets it, and none if the
 * invite was used, deleted or has expired. If a sender dies, the mail is due again when its lease is over. It may
 * already have been sent, so it is attempted only once more.
 */

/**
 * Sends a portion of the due mails, or as many as it can start within `MAIL_TURN`.
 *
 * @returns whether more may be due
 */
export async function sendDueMails(context: Context): Promise<boolean> {
  const { mailer } = context;
  if (!mailer) return false;
  const endAt = Date.now() + MAIL_TURN;
  for (let found = 0; found < MAIL_PORTION; ) {
    const turn = newTurn(OUTWARD_SHARE, MAIL_PORTION - found);
    const due = await findDueMails(context, turn);
    found += due.length;
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
    if (!waiting.next().done) return true;
    if (due.length < OUTWARD_SHARE) return false;
  }
  return true;
}

export const findDueMails = ({ db, now }: Context, turn: Turn): Promise<DueMail[]> =>
  runAll(db, dueMails({ ...turn, due_before: now + DUE_TOLERANCE }));

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

const idsOfMail = ({ id, organization_id }: DueMail) => ({ organization_id, invite_id: id });

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
    // The lease stays, as if the sender had died.
    log("invite_mail_unanswered", ids);
    return;
  }
  const next = afterFailedMail(due, outcome, Date.now());
  const said = { ...ids, reason: outcome.reason };
  if (next.mail_status === "failed") log("invite_mail_failed", said);
  else log("invite_mail_deferred", said);
  await runAll(db, endMailLease({ id, lease_until, ...next }));
}
