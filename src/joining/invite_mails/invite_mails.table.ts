import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * The number of mails that an organization has decided to send to an address on a UTC day, for its limit (see
 * invite_mails.triggers.sql). Rows outlive the invites, or deleting invites would evade the limit. The address is stored only as a
 * keyed digest, so that this table does not reveal the people who were invited.
 */
export const mailedAddresses = sqliteTable(
  "mailed_addresses",
  {
    organization_id: organizationId(),
    /** The start of the UTC day. */
    day: integer().notNull(),
    address_digest: text().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.day, t.address_digest] })],
);
