import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { type Row, runAll, runBatch } from "../../database/queries.ts";
import { findInTurns } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { type Mailer, NO_CODE, sendMail } from "../../mail/mail.ts";
import {
  DUE_TOLERANCE,
  MAIL_LEASE,
  MAIL_PORTION,
  MAIL_TURN,
  MAILS_AT_ONCE,
  MAX_MAIL_LEASES,
} from "../../tuning.ts";
import { linkMadeAt } from "../invites/invites.merge.ts";
import type { inviteColumns } from "../invites/invites.sql.ts";
import { withAcceptUrl } from "../invites/invites.tokens.ts";
import { inviteMail } from "./invite_mails.content.ts";
import { giveAddressBack, takeAddress, uncountOrganizationMail } from "./invite_mails.limits.ts";
import { afterFailedMail } from "./invite_mails.merge.ts";
import {
  countMail,
  type DueMail,
  dueMails,
  endMailLease,
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
  const { id, owner_id: organization_id, next_mail_at, mail_leases } = due;
  const lease: MailLease = {
    id,
    organization_id,
    next_mail_at,
    now,
    mailing: `${id}.${linkMadeAt(due)}.${mail_leases}`,
    lease_until: now + MAIL_LEASE,
  };
  const ids = { organization_id, invite_id: id };
  const [leased, refused] = await leaseOrRefuse(db, lease);
  if (refused) log("invite_mail_failed", { ...ids, reason: leaseRefusal(due, now) });
  if (!leased) return;
  const mayGetMail = await takeAddress(context, organization_id, leased.email, lease.mailing).catch(
    async (error) => {
      await runAll(db, endMailLease({ ...due, lease_until: lease.lease_until, mail_status: "queued" }));
      throw error;
    },
  );
  if (!mayGetMail) {
    if (await refuseForAddress(db, lease, due))
      log("invite_mail_failed", { ...ids, reason: "address_limit" });
    return;
  }
  await sendLeased(context, due, lease, leased);
}

async function sendLeased(
  context: Context & { mailer: Mailer },
  due: DueMail,
  { id, organization_id, mailing, lease_until }: MailLease,
  leased: Row<typeof inviteColumns>,
): Promise<void> {
  const { db, settings, mailer } = context;
  const ids = { organization_id, invite_id: id };
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
  if (outcome.reason !== NO_CODE) await giveAddressBack(context, leased.email, mailing);
  const next = afterFailedMail(due, outcome, Date.now());
  const said = { ...ids, reason: outcome.reason };
  if (next.mail_status === "failed") log("invite_mail_failed", said);
  else log("invite_mail_deferred", said);
  await runAll(db, endMailLease({ id, lease_until, ...next }));
}

async function leaseOrRefuse(db: Database, lease: MailLease) {
  const [, [leased], [refused]] = await runBatch(db, [countMail(lease), leaseMail(lease), refuseMail(lease)]);
  return [leased, refused] as const;
}

/** @returns whether the lease was still there */
async function refuseForAddress(
  db: Database,
  lease: MailLease,
  { mail_attempts }: DueMail,
): Promise<boolean> {
  const { id, organization_id, mailing, lease_until } = lease;
  const failed = { mail_status: "failed" as const, next_mail_at: null, mail_attempts };
  const [refused] = await runBatch(db, [
    endMailLease({ id, lease_until, ...failed }),
    uncountOrganizationMail({ organization_id, mailing }),
  ]);
  return refused.length > 0;
}

/** The first reason for which a mail that was due was not leased. */
function leaseRefusal({ expires_at, mail_leases }: DueMail, now: number): string {
  if (expires_at <= now) return "expired";
  return mail_leases >= MAX_MAIL_LEASES ? "outcomes_unknown" : "organization_limit";
}
