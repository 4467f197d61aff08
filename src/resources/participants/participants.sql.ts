import { and, eq, getTableColumns, inArray, isNull, or, sql } from "drizzle-orm";
import { manyRowWrites } from "../../database/many_row_writes.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { participants } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { callIdByKey, organizationOfReport, type ReportedCall } from "../calls/calls.sql.ts";
import { memberOf } from "../organization_users/organization_users.sql.ts";
import { organizationOfAnySlug } from "../waiting_rooms/waiting_rooms.slugs.ts";

export const participantColumns = getTableColumns(participants);

export const participantWrites = tableWrites(participants, participantColumns);

/** The latest time that is known of a participant. */
export const latestTime = sql<number>`max(${sql.join(
  [participants.waiting_since, participants.joined_at, participants.left_at].map(
    (time) => sql`coalesce(${time}, 0)`,
  ),
  sql`, `,
)})`;

/**
 * Those whose call_id is null are on the call of the `call_key`: a call that is written in the same transaction has no id
 * before.
 */
export const writeParticipants = manyRowWrites<
  typeof participants,
  typeof participants.$inferInsert & { call_key: string }
>(participants, ["organization_id", "key"], {
  call_id: (of) => sql`coalesce(${of("call_id")}, ${callIdByKey(of("call_key"))})`,
});

/** True for participants whom a report of a call names. `keys` is a JSON array. */
export const namedInReport = (report: Placeholders<ReportedCall & { keys: string }>) =>
  and(
    eq(participants.organization_id, organizationOfReport(report)),
    inArray(participants.key, jsonValues(report.keys)),
  );

export const participantsOfReport = preparedQuery((report: Placeholders<ReportedCall & { keys: string }>) =>
  builder.select(participantColumns).from(participants).where(namedInReport(report)).orderBy(participants.id),
);

/**
 * Those on a call who have not left it, as far as a report said so: those too whose leaving was assumed. Nobody for an
 * empty key, which no call has.
 */
export const participantsPresent = preparedQuery(({ call_key }: Placeholders<{ call_key: string }>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(
      and(
        eq(participants.call_id, callIdByKey(call_key)),
        or(isNull(participants.left_at), participants.left_is_assumed),
      ),
    )
    .orderBy(participants.id),
);

/**
 * The participant with this key, in the organization of the room that has or had the slug: whichever room of it the
 * participant is in.
 */
export const participantOfRoom = preparedQuery(({ slug, key }: Placeholders<{ slug: string; key: string }>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(and(eq(participants.organization_id, organizationOfAnySlug(slug)), eq(participants.key, key))),
);

/** The membership of a user in the organization of the room that has or had the slug. */
export const memberOfRoom = preparedQuery(
  ({ slug, user_id }: Placeholders<{ slug: string; user_id: number | null }>) =>
    memberOf(organizationOfAnySlug(slug), user_id),
);
