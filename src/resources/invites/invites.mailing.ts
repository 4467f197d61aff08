import { and, asc, eq, exists, gt, inArray, isNotNull, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Row,
  runAll,
  runBatch,
} from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { invites } from "../../database/schema.ts";
import { eachOf, findInTurns, rowid, rowsInTurn, type Turn } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { DUE_TOLERANCE, MAIL_LEASE, MAIL_PORTION, MAILS_AT_ONCE, MAX_MAIL_CLAIMS } from "../../limits.ts";
import { type Mailer, NO_CODE, sendMail } from "../../mail/mail.ts";
import { withAcceptUrl } from "./invites.links.ts";
import { inviteMail } from "./invites.mail.ts";
import {
  countedNow,
  countOrganizationMail,
  giveAddressBack,
  takeAddress,
  uncountOrganizationMail,
} from "./invites.mail_limits.ts";
import { afterFailedMail } from "./invites.merge.ts";
import { inviteColumns } from "./invites.sql.ts";

/*
 * D1 knows which mails are due. Each is claimed right before it is sent: of several senders one gets it, and none if the
 * invite was used, removed or expired. A sender that dies leaves its claim, and the mail is due again when that is over. It may
 * have been sent, so there is only one more attempt.
 */

const dueColumns = {
  id: invites.id,
  owner_id: sql<number>`${invites.organization_id}`.as("owner_id"),
  email: invites.email,
  created_at: invites.created_at,
  resent_at: invites.resent_at,
  expires_at: invites.expires_at,
  next_mail_at: sql<number>`${invites.next_mail_at}`.as("next_mail_at"),
  mail_attempts: invites.mail_attempts,
  mail_claims: invites.mail_claims,
};

type DueMail = Row<typeof dueColumns>;

/**
 * Sends a portion of the mails that are due.
 *
 * @returns whether more may be due
 */
export async function sendDueMails(context: Context): Promise<boolean> {
  const { mailer } = context;
  if (!mailer) return false;
  const due = await findDueMails(context, MAIL_PORTION);
  const waiting = due.values();
  const sendOneByOne = async () => {
    for (const mail of waiting) await sendIfClaimed({ ...context, mailer, now: Date.now() }, mail);
  };
  const results = await Promise.allSettled(Array.from({ length: MAILS_AT_ONCE }, sendOneByOne));
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  return due.length === MAIL_PORTION;
}

/** Those of each organization in its turn. */
export const findDueMails = ({ db, now }: Context, portion: number): Promise<DueMail[]> =>
  findInTurns(portion, (turn) => runAll(db, dueMails({ ...turn, due_before: now + DUE_TOLERANCE })));

const dueMails = preparedQuery((due: Placeholders<Turn & { due_before: number }>) => {
  const dueOf = (owner_id: SQL) =>
    builder
      .select({ rowid: rowid.as("rowid") })
      .from(invites)
      .where(and(eq(invites.organization_id, owner_id), lte(invites.next_mail_at, due.due_before)))
      .orderBy(asc(invites.next_mail_at));
  const owners = eachOf(invites.organization_id, isNotNull(invites.next_mail_at));
  return builder
    .select(dueColumns)
    .from(invites)
    .where(and(inArray(rowid, rowsInTurn(invites, owners, dueOf, due)), isNotQuiet()));
});

/** A mail that is to be claimed, as values of a query. It is known by when it was due: every claim changes that. */
interface Claim {
  id: number;
  organization_id: number;
  next_mail_at: number;
  mailing: string;
  now: number;
  lease_until: number;
}

const madeAt = ({ resent_at, created_at }: DueMail) => resent_at ?? created_at;

async function sendIfClaimed(context: Context & { mailer: Mailer }, due: DueMail): Promise<void> {
  const { db, now } = context;
  const { id, owner_id: organization_id, next_mail_at, mail_claims } = due;
  const claim: Claim = {
    id,
    organization_id,
    next_mail_at,
    now,
    mailing: `${id}.${madeAt(due)}.${mail_claims}`,
    lease_until: now + MAIL_LEASE,
  };
  const ids = { organization_id, invite_id: id };
  const [claimed, refused] = await claimOrRefuse(db, claim);
  if (refused) log("invite_mail_failed", { ...ids, reason: refusalOf(due, now) });
  if (!claimed) return;
  const mayGetMail = await takeAddress(context, claimed.email, claim.mailing).catch(async (error) => {
    await runAll(db, endClaim({ ...due, lease_until: claim.lease_until, mail_status: "queued" }));
    throw error;
  });
  if (!mayGetMail) {
    if (await refuseForAddress(db, claim, due))
      log("invite_mail_failed", { ...ids, reason: "address_limit" });
    return;
  }
  await sendClaimed(context, due, claim, claimed);
}

async function sendClaimed(
  context: Context & { mailer: Mailer },
  due: DueMail,
  { id, organization_id, mailing, lease_until }: Claim,
  claimed: Row<typeof inviteColumns>,
): Promise<void> {
  const { db, settings, mailer } = context;
  const ids = { organization_id, invite_id: id };
  const outcome = await sendMail(mailer, inviteMail(await withAcceptUrl(settings, claimed)));
  if (outcome.state === "sent") {
    await runAll(db, recordSent({ id, made_at: madeAt(due), mailed_at: Date.now() }));
    return;
  }
  if (outcome.state === "unknown") {
    // The claim stays, as that of a sender that died.
    log("invite_mail_unanswered", ids);
    return;
  }
  if (outcome.reason !== NO_CODE) await giveAddressBack(context, claimed.email, mailing);
  const next = afterFailedMail(due, outcome, Date.now());
  const said = { ...ids, reason: outcome.reason };
  if (next.mail_status === "failed") log("invite_mail_failed", said);
  else log("invite_mail_deferred", said);
  await runAll(db, endClaim({ id, lease_until, ...next }));
}

async function claimOrRefuse(db: Database, claim: Claim) {
  const [, [claimed], [refused]] = await runBatch(db, [
    countMail(claim),
    claimMail(claim),
    refuseMail(claim),
  ]);
  return [claimed, refused] as const;
}

/** @returns whether the claim was still there */
async function refuseForAddress(db: Database, claim: Claim, { mail_attempts }: DueMail): Promise<boolean> {
  const { id, organization_id, mailing, lease_until } = claim;
  const failed = { mail_status: "failed" as const, next_mail_at: null, mail_attempts };
  const [refused] = await runBatch(db, [
    endClaim({ id, lease_until, ...failed }),
    uncountOrganizationMail({ organization_id, mailing }),
  ]);
  return refused.length > 0;
}

/** The first reason for which a mail that was due was not claimed. */
function refusalOf({ expires_at, mail_claims }: DueMail, now: number): string {
  if (expires_at <= now) return "expired";
  return mail_claims >= MAX_MAIL_CLAIMS ? "outcomes_unknown" : "organization_limit";
}

/** True for the invite as it was found: nobody has claimed its mail since, nor used the invite, nor sent it again. */
const isAsFound = ({ id, next_mail_at }: Placeholders<Claim>): SQL | undefined =>
  and(eq(invites.id, id), eq(invites.next_mail_at, next_mail_at), isNull(invites.used_at), isNotQuiet());

const isWanted = (claim: Placeholders<Claim>): SQL | undefined =>
  and(isAsFound(claim), gt(invites.expires_at, claim.now), lt(invites.mail_claims, MAX_MAIL_CLAIMS));

const countMail = preparedQuery((claim: Placeholders<Claim>) =>
  countOrganizationMail(
    claim,
    exists(builder.select({ id: invites.id }).from(invites).where(isWanted(claim))),
  ),
);

const claimMail = preparedQuery((claim: Placeholders<Claim>) =>
  builder
    .update(invites)
    .set({ next_mail_at: sql`${claim.lease_until}`, mail_claims: sql`${invites.mail_claims} + 1` })
    .where(and(isWanted(claim), exists(countedNow(claim))))
    .returning(inviteColumns),
);

/** Comes after the claim: what is still as it was found is not to be sent. */
const refuseMail = preparedQuery((claim: Placeholders<Claim>) =>
  builder
    .update(invites)
    .set({ mail_status: "failed", next_mail_at: null })
    .where(isAsFound(claim))
    .returning({ id: invites.id }),
);

/** It was sent, whatever became of the claim meanwhile. But an invite that was sent again waits for its new mail. */
const recordSent = preparedQuery(
  ({ id, made_at, mailed_at }: Placeholders<{ id: number; made_at: number; mailed_at: number }>) =>
    builder
      .update(invites)
      .set({ mail_status: "sent", mailed_at: sql`${mailed_at}`, next_mail_at: null, mail_claims: 0 })
      .where(and(eq(invites.id, id), eq(sql`coalesce(${invites.resent_at}, ${invites.created_at})`, made_at)))
      .returning({ id: invites.id }),
);

/** For a mail that was not sent: what came of this claim is known, though of an earlier one it may still not be known. */
const endClaim = preparedQuery(
  ({
    id,
    lease_until,
    mail_status,
    next_mail_at,
    mail_attempts,
  }: Placeholders<{ id: number; lease_until: number } & ReturnType<typeof afterFailedMail>>) =>
    builder
      .update(invites)
      .set({
        mail_status: sql`${mail_status}`,
        next_mail_at: sql`${next_mail_at}`,
        mail_attempts: sql`${mail_attempts}`,
        mail_claims: sql`${invites.mail_claims} - 1`,
      })
      .where(and(eq(invites.id, id), eq(invites.next_mail_at, lease_until)))
      .returning({ id: invites.id }),
);
