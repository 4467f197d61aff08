import { and, eq, or, type SQL, sql } from "drizzle-orm";
import { entryOfListOfCall } from "../../calls/calls/calls.entries.ts";
import { callColumns, callWithinReach, endedCallId, type ReachedCall } from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { idsOnCall } from "../../calls/participants/participants.sql.ts";
import { columnAs } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { callTextVersions } from "../../results/call_text_versions/call_text_versions.table.ts";
import { callTextColumns, textEntries } from "../../results/call_texts/call_texts.sql.ts";
import { callTexts } from "../../results/call_texts/call_texts.table.ts";
import { document } from "../../results/transcripts/transcripts.sql.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";

/** The call of a path, and which parts of its record the caller may read. */
interface RecordOfPath extends ReachedCall {
  reads_results: boolean;
  /** Whether the record names those who corrected a text. */
  reads_versions: boolean;
}

export const recordedCall = preparedQuery((of: Placeholders<ReachedCall>) =>
  builder
    .select({
      ...callColumns,
      organization_name: columnAs(organizations.name, "organization_name"),
      organization_slug: columnAs(organizations.slug, "organization_slug"),
      patient_identifier_system: organizations.patient_identifier_system,
      room_name: columnAs(waitingRooms.name, "room_name"),
    })
    .from(calls)
    .innerJoin(organizations, eq(organizations.id, calls.organization_id))
    .innerJoin(waitingRooms, eq(waitingRooms.id, calls.waiting_room_id))
    .where(callWithinReach(of)),
);

/** A transcript that can be read, and a SOAP note once it is final. */
const isTextOfRecord = (of: Placeholders<RecordOfPath>) =>
  and(
    eq(callTexts.call_id, endedCallId(of)),
    or(eq(callTexts.kind, "transcript"), callTexts.is_final),
    of.reads_results,
  ) as SQL;

/** In their order; none if the client may not read earlier versions. */
function correctionsOf({ reads_versions }: Placeholders<RecordOfPath>) {
  const { text_id, version, user_id, created_at } = callTextVersions;
  const correction = sql`json_object('user_id', ${user_id}, 'created_at', ${created_at})`;
  return sql`${builder
    .select({ list: sql`json_group_array(${correction} order by ${version})` })
    .from(callTextVersions)
    .where(and(eq(text_id, callTexts.id), reads_versions))}`
    .mapWith((list: string): { user_id: number; created_at: number }[] => JSON.parse(list))
    .as("corrected");
}

export const textsOfRecord = preparedQuery((of: Placeholders<RecordOfPath>) =>
  builder
    .select({ ...callTextColumns, document, corrected: correctionsOf(of) })
    .from(callTexts)
    .where(isTextOfRecord(of)),
);

export const textsEntries = textEntries(isTextOfRecord);

/** The other entries that reading the same as JSON leaves. */
export const listEntries = [entryOfListOfCall("participant", idsOnCall), entryOfListOfCall("consent")];
