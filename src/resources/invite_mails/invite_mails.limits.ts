import { count, sql } from "drizzle-orm";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { excluded, insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { mailedAddresses } from "../../database/schema.ts";
import { dateOf } from "../../http/dates.ts";
import { DAY } from "../../units.ts";
import { countMailsOfDay } from "../usage/usage.sql.ts";

/*
 * The service must not become a relay for others' mails. A mail is counted in the transaction that decides to send it, for the
 * organization and for the address, and is never given back: whatever becomes of the mail or the invite.
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

/** When the UTC day of a time began. */
export const dayOf = (time: number): number => time - (time % DAY);

/**
 * The statements that count mails, one for each digest of an address. Triggers refuse one too many; without mail, or without
 * anything to send, there are none.
 */
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

/** The keyed digests by which mails to these addresses are counted. */
export function digestsOfAddresses(
  { DIGEST_SECRET }: Context["settings"],
  emails: string[],
): Promise<string[]> {
  // Mail to ann+visits@ arrives at ann@. The prefix keeps it apart from the digest of a participant's key that is an address.
  const addresses = emails.map((email) => `mailed to ${email.replace(/\+[^@]*(?=@)/, "")}`);
  return keyedDigests(DIGEST_SECRET, addresses);
}
