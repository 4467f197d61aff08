import { and, eq, gt, isNotNull, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { isInTurn, type Turn } from "../../database/turns.ts";
import { isServed, mailNameOfOrganization } from "../../organization/organizations/organizations.sql.ts";
import { MAX_MAIL_LEASES } from "../../tuning.ts";
import type { afterFailedMail } from "../invites/invites.merge.ts";
import { inviteColumns } from "../invites/invites.sql.ts";
import { invites } from "../invites/invites.table.ts";

const leasedColumns = {
  ...inviteColumns,
  mail_name: mailNameOfOrganization(invites.organization_id).as("mail_name"),
};

export type LeasedMail = Row<typeof leasedColumns>;

const dueMailColumns = {
  id: invites.id,
  organization_id: invites.organization_id,
  created_at: invites.created_at,
  resent_at: invites.resent_at,
  expires_at: invites.expires_at,
  next_mail_at: sql<number>`${invites.next_mail_at}`.as("next_mail_at"),
  mail_attempts: invites.mail_attempts,
  mail_leases: invites.mail_leases,
};

export type DueMail = Row<typeof dueMailColumns>;

export const dueMails = preparedQuery((turn: Placeholders<Turn & { due_before: number }>) => {
  const { next_mail_at: time } = invites;
  const due = {
    time,
    where: (organization_id: SQL) => and(lte(time, turn.due_before), isServed(organization_id)),
    indexed: isNotNull(time),
  };
  return builder
    .select(dueMailColumns)
    .from(invites)
    .where(isInTurn(invites, due, turn));
});

/** The due time identifies the mail too, because every lease changes it. */
export interface MailLease {
  id: number;
  next_mail_at: number;
  now: number;
  lease_until: number;
}

/** False if the invite has been used, sent again, or had its mail leased since it was read. */
const isAsFound = ({ id, next_mail_at }: Placeholders<MailLease>): SQL | undefined =>
  and(hasValues(invites, { id, next_mail_at }), isNull(invites.used_at));

const isWanted = (lease: Placeholders<MailLease>): SQL | undefined =>
  and(isAsFound(lease), gt(invites.expires_at, lease.now), lt(invites.mail_leases, MAX_MAIL_LEASES));

export const leaseMail = preparedQuery((lease: Placeholders<MailLease>) =>
  builder
    .update(invites)
    .set({ next_mail_at: sql`${lease.lease_until}`, mail_leases: sql`${invites.mail_leases} + 1` })
    .where(isWanted(lease))
    .returning(leasedColumns),
);

/** Must run after `leaseMail`: it gives up the mails that `leaseMail` did not lease. */
export const refuseMail = preparedQuery((lease: Placeholders<MailLease>) =>
  builder
    .update(invites)
    .set({ mail_status: "failed", next_mail_at: null })
    .where(isAsFound(lease))
    .returning({ id: invites.id }),
);

/** Whatever happened to its lease, unless the invite was sent again and waits for a new mail. */
export const recordSent = preparedQuery(
  ({ id, link_made_at, mailed_at }: Placeholders<{ id: number; link_made_at: number; mailed_at: number }>) =>
    builder
      .update(invites)
      .set({ mail_status: "sent", mailed_at: sql`${mailed_at}`, next_mail_at: null, mail_leases: 0 })
      .where(
        and(eq(invites.id, id), eq(sql`coalesce(${invites.resent_at}, ${invites.created_at})`, link_made_at)),
      )
      .returning({ id: invites.id }),
);

/** An earlier lease stays counted, because its result may still be unknown. */
export const endMailLease = preparedQuery(
  (end: Placeholders<{ id: number; lease_until: number } & ReturnType<typeof afterFailedMail>>) =>
    builder
      .update(invites)
      .set({
        mail_status: sql`${end.mail_status}`,
        next_mail_at: sql`${end.next_mail_at}`,
        mail_attempts: sql`${end.mail_attempts}`,
        mail_leases: sql`${invites.mail_leases} - 1`,
      })
      .where(hasValues(invites, { id: end.id, next_mail_at: end.lease_until }))
      .returning({ id: invites.id }),
);
