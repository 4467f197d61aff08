import { and, eq, getTableColumns, inArray, isNull, sql } from "drizzle-orm";
import { insertSelect, jsonFields, replaceAllBut } from "../../database/insert.ts";
import { builder, namedQuery, type Placeholders } from "../../database/queries.ts";
import { participants } from "../../database/schema.ts";
import { callIdByKey, organizationOfReport, type ReportedCall } from "../calls/calls.sql.ts";
import { memberOf } from "../organization_users/organization_users.sql.ts";
import { organizationOfAnySlug } from "../waiting_rooms/waiting_rooms.slugs.ts";

export const participantColumns = getTableColumns(participants);

/** The participants whom a report of a call names. `keys` is a JSON array. */
export const participantsOfReport = namedQuery((report: Placeholders<ReportedCall & { keys: string }>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(
      and(
        eq(participants.organization_id, organizationOfReport(report)),
        inArray(participants.key, sql`(select value from json_each(${report.keys}))`),
      ),
    )
    .orderBy(participants.id),
);

export const participantByKey = namedQuery(
  ({ organization_id, key }: Placeholders<{ organization_id: number; key: string }>) =>
    builder
      .select(participantColumns)
      .from(participants)
      .where(and(eq(participants.organization_id, organization_id), eq(participants.key, key))),
);

/** Those on a call who have not left it; nobody where `is_wanted` is false. */
export const participantsPresent = namedQuery(
  ({ call_key, is_wanted }: Placeholders<{ call_key: string; is_wanted: boolean }>) =>
    builder
      .select(participantColumns)
      .from(participants)
      .where(
        and(sql`${is_wanted}`, eq(participants.call_id, callIdByKey(call_key)), isNull(participants.left_at)),
      )
      .orderBy(participants.id),
);

/**
 * Writes participants, new ones and known ones, by their keys.
 *
 * `rows` is a JSON array of whole rows. One whose call_id is null is on the call of `call_key`, if there is such a
 * call: a call that is written in the same batch has no id before.
 */
export const writeParticipants = namedQuery(
  ({ rows, call_key }: Placeholders<{ rows: string; call_key: string | null }>) => {
    const fields = jsonFields(participants);
    return insertSelect(
      participants,
      {
        ...fields,
        id: undefined,
        call_id: sql`coalesce(${fields.call_id}, ${callIdByKey(call_key)})`,
      },
      sql`from json_each(${rows}) as item where true`,
    ).onConflictDoUpdate({
      target: [participants.organization_id, participants.key],
      set: replaceAllBut(participants, ["id", "organization_id", "key", "created_at"]),
    });
  },
);

/**
 * The participant with this key, in the organization of the room that has or had the slug: whichever room of it the
 * participant is in.
 */
export const participantOfRoom = namedQuery(({ slug, key }: Placeholders<{ slug: string; key: string }>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(and(eq(participants.organization_id, organizationOfAnySlug(slug)), eq(participants.key, key))),
);

/** The membership of a user in the organization of the room that has or had the slug. */
export const memberOfRoom = namedQuery(
  ({ slug, user_id }: Placeholders<{ slug: string; user_id: number | null }>) =>
    memberOf(sql`${organizationOfAnySlug(slug)}`, user_id),
);
