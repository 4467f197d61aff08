import { count, sql } from "drizzle-orm";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { excluded, insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { dateOf } from "../../http/dates.ts";
import { countMailsOfDay } from "../../organization/usage/usage.sql.ts";
import { DAY } from "../../units.ts";
import { mailedAddresses } from "./invite_mails.table.ts";

/*
 * The service must not become a mail relay: a mail is counted when it is decided on, even if it fails or its invite is deleted.
 */

const mailsTo = preparedQuery(
  ({
    organization_id,
    day,
    digests,
  }: Placeholders<{ organization_id: number; day: number; digests: string }>) => {
    const mails = builder
      .select({ address_digest: jsonValue.as("address_digest"), count: count().as("count") })
      .from(jsonRows(digests))
      .groupBy(jsonValue)
      .as("mails");
    return insertSelect(
      mailedAddresses,
      { organization_id, day, address_digest: mails.address_digest, count: mails.count },
      { from: mails },
    ).onConflictDoUpdate({
      target: [mailedAddresses.organization_id, mailedAddresses.day, mailedAddresses.address_digest],
      set: { count: sql`${mailedAddresses.count} + ${excluded(mailedAddresses.count)}` },
    });
  },
);

export const dayOf = (time: number): number => time - (time % DAY);

/** One mail for each address digest. Triggers refuse a mail over the limit. */
export function countMails(
  { mailer, now }: Pick<Context, "mailer" | "now">,
  organization_id: number,
  digests: string[],
): BoundQuery<unknown>[] {
  if (!mailer || digests.length === 0) return [];
  return [
    countMailsOfDay({ organization_id, date: dateOf(now), count: digests.length }),
    mailsTo({ organization_id, day: dayOf(now), digests: JSON.stringify(digests) }),
  ];
}

export function digestsOfAddresses({ DIGEST_SECRET }: Context["settings"], emails: string[]) {
  // Mail to ann+visits@ arrives at ann@. The prefix keeps these digests apart from those of participants' keys, which may be
  // addresses too.
  const addresses = emails.map((email) => `mailed to ${email.replace(/\+[^@]*(?=@)/, "")}`);
  return keyedDigests(DIGEST_SECRET, addresses);
}
