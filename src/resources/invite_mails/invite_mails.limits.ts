import { and, count, eq, gt, ne, type SQL, sql } from "drizzle-orm";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../../database/queries.ts";
import { addressMails, organizationMails } from "../../database/schema.ts";
import { deleteBy, selectColumn } from "../../database/selects.ts";
import { MAIL_LIMIT_PERIOD } from "../../lifetimes.ts";
import { MAX_ADDRESS_MAILS, MAX_ADDRESS_MAILS_OF_ALL, MAX_ORGANIZATION_MAILS } from "../../limits.ts";

/*
 * The service must not become a relay for the mails of others. So each mail is counted before it is sent, by a statement
 * that counts it only if the limit allows it: of the organization with the lease, of the address by the sender that has the
 * lease. One of which it is not known whether it was sent counts beside the one that takes its place. An attempt after an
 * error that passes is the same mail: the organization's is counted when it was last tried, and the address's only if it may
 * have gone out, or else an address could be denied mail by mails that never reach it.
 */

type Table = typeof organizationMails | typeof addressMails;

/** How many other mails the table counts in the period. */
const othersIn = (
  table: Table,
  isOwn: SQL,
  { mailing, now }: Placeholders<{ mailing: string; now: number }>,
) =>
  builder
    .select({ count: count() })
    .from(table as typeof addressMails)
    .where(and(isOwn, ne(table.mailing, mailing), gt(table.counted_at, sql`${now} - ${MAIL_LIMIT_PERIOD}`)));

interface OrganizationMail {
  organization_id: number;
  mailing: string;
  now: number;
}

/** @param isWanted whether the mail is to be sent, apart from the limit */
export const countOrganizationMail = (mail: Placeholders<OrganizationMail>, isWanted: SQL | undefined) =>
  insertSelect(
    organizationMails,
    { organization_id: mail.organization_id, mailing: mail.mailing, counted_at: mail.now },
    {
      where: and(
        isWanted,
        sql`(${othersIn(organizationMails, eq(organizationMails.organization_id, mail.organization_id), mail)}) < ${MAX_ORGANIZATION_MAILS}`,
      ),
    },
  ).onConflictDoUpdate({
    target: [organizationMails.organization_id, organizationMails.mailing],
    set: { counted_at: sql`excluded.counted_at` },
  });

/** Selects the mail if it was counted now. */
export const countedNow = ({ organization_id, mailing, now }: Placeholders<OrganizationMail>) =>
  selectColumn(
    organizationMails.mailing,
    hasValues(organizationMails, { organization_id, mailing, counted_at: now }),
  );

/** For a mail that was counted, and is not sent because its address gets no more. */
export const uncountOrganizationMail = deleteBy(organizationMails, "organization_id", "mailing");

const countAddressMail = preparedQuery(
  (mail: Placeholders<OrganizationMail & { address_digest: string }>) => {
    const { address_digest, organization_id } = addressMails;
    const isToIt = eq(address_digest, mail.address_digest);
    const ofOwn = and(isToIt, eq(organization_id, mail.organization_id)) ?? isToIt;
    return insertSelect(
      addressMails,
      {
        address_digest: mail.address_digest,
        mailing: mail.mailing,
        organization_id: mail.organization_id,
        counted_at: mail.now,
      },
      {
        where: sql`(${othersIn(addressMails, ofOwn, mail)}) < ${MAX_ADDRESS_MAILS}
          and (${othersIn(addressMails, isToIt, mail)}) < ${MAX_ADDRESS_MAILS_OF_ALL}`,
      },
    )
      .onConflictDoUpdate({
        target: [addressMails.address_digest, addressMails.mailing],
        set: { counted_at: sql`excluded.counted_at` },
      })
      .returning({ mailing: addressMails.mailing });
  },
);

const uncountAddressMail = deleteBy(addressMails, "address_digest", "mailing");

// An address gets mails of organizations in all databases, so they are counted in the directory. Only the sender that has
// leased the mail may call these.

type Counting = Pick<Context, "db" | "shards" | "settings">;

const counterOf = ({ db, shards }: Counting) => shards?.directory ?? db;

/** Whether the address may get one more mail, of this organization and of all: then it is counted. */
export async function takeAddress(
  context: Counting & Pick<Context, "now">,
  organization_id: number,
  email: string,
  mailing: string,
): Promise<boolean> {
  const { settings, now } = context;
  const address_digest = await digestOfAddress(settings, email);
  const counted = await runAll(
    counterOf(context),
    countAddressMail({ organization_id, address_digest, mailing, now }),
  );
  return counted.length > 0;
}

/** The mail did not go out. Comes before the lease is given back: then nobody else can have counted it. */
export async function giveAddressBack(context: Counting, email: string, mailing: string): Promise<void> {
  const address_digest = await digestOfAddress(context.settings, email);
  await runAll(counterOf(context), uncountAddressMail({ address_digest, mailing }));
}

async function digestOfAddress({ DIGEST_SECRET }: Context["settings"], email: string): Promise<string> {
  // Mail to ann+visits@ comes to ann@.
  const address = email.replace(/\+[^@]*(?=@)/, "");
  // Not the digest of a participant's key that happens to be an address.
  const [digest = ""] = await keyedDigests(DIGEST_SECRET, [`mailed to ${address}`]);
  return digest;
}
