import { and, asc, desc, eq, inArray, isNotNull, ne, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { entryOfListOfCall } from "../../calls/calls/calls.entries.ts";
import { callColumns, callWithinReach, endedCallId, type ReachedCall } from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { consents } from "../../calls/consents/consents.table.ts";
import { idsOnCall, isOnCallOfPath } from "../../calls/participants/participants.sql.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { columnAs } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { callTextVersions } from "../../results/call_text_versions/call_text_versions.table.ts";
import { callTextColumns, textEntries } from "../../results/call_texts/call_texts.sql.ts";
import { callTexts } from "../../results/call_texts/call_texts.table.ts";
import { egressColumns, visibleIds } from "../../results/egresses/egresses.sql.ts";
import { egresses } from "../../results/egresses/egresses.table.ts";
import { document } from "../../results/transcripts/transcripts.sql.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";

/** The call of a path, and which parts of its record the caller may read. */
export interface RecordOfPath extends ReachedCall {
  reads_results: boolean;
  /** Whether the record names those who corrected a text. */
  reads_versions: boolean;
}

const columns = {
  ...callColumns,
  organization_name: columnAs(organizations.name, "organization_name"),
  organization_slug: columnAs(organizations.slug, "organization_slug"),
  patient_identifier_system: organizations.patient_identifier_system,
  room_name: columnAs(waitingRooms.name, "room_name"),
};

export type RecordedCall = Row<typeof columns>;

export const recordedCall = preparedQuery((of: Placeholders<RecordOfPath>) =>
  builder
    .select(columns)
    .from(calls)
    .innerJoin(organizations, eq(organizations.id, calls.organization_id))
    .innerJoin(waitingRooms, eq(waitingRooms.id, calls.waiting_room_id))
    .where(callWithinReach(of)),
);

const { participant_id, decision, decided_at, method } = consents;

const decisionColumns = { participant_id, decision, decided_at, method };

export type CountingDecision = Row<typeof decisionColumns>;

const other = alias(consents, "other");

/** The decision of each participant that counts, as the triggers choose it (see recording_consents.triggers.sql). */
export const countingDecisions = preparedQuery((of: Placeholders<RecordOfPath>) => {
  const isOldGrant = sql`${other.reporter} = 'observer' and ${other.decision} = 'granted' and ${other.said_at} is null`;
  const counting = builder
    .select({ id: other.id })
    .from(other)
    .where(eq(other.participant_id, consents.participant_id))
    .orderBy(isOldGrant, desc(other.decided_at), desc(other.decision))
    .limit(1);
  return builder
    .select(decisionColumns)
    .from(consents)
    .where(
      and(
        inArray(participant_id, selectColumn(participants.id, isOnCallOfPath(of))),
        eq(consents.id, sql`(${counting})`),
      ),
    )
    .orderBy(asc(participant_id));
});

/** A transcript that can be read, and a SOAP note once it is final. */
const isTextOfRecord = (of: Placeholders<RecordOfPath>) =>
  and(
    eq(callTexts.call_id, endedCallId(of)),
    or(eq(callTexts.kind, "transcript"), callTexts.is_final),
    of.reads_results,
  ) as SQL;

export interface Correction {
  user_id: number;
  created_at: number;
}

const correctionsOf = ({ reads_versions }: Placeholders<RecordOfPath>) =>
  builder
    .select()
    .from(callTextVersions)
    .where(and(eq(callTextVersions.text_id, callTexts.id), reads_versions))
    .orderBy(asc(callTextVersions.version));

export const textsOfRecord = preparedQuery((of: Placeholders<RecordOfPath>) =>
  builder
    .select({
      ...callTextColumns,
      document,
      corrected: sql`(select json_group_array(json_object('user_id', user_id, 'created_at', created_at))
          from (${correctionsOf(of)}))`
        .mapWith((list: string): Correction[] => JSON.parse(list))
        .as("corrected"),
    })
    .from(callTexts)
    .where(isTextOfRecord(of)),
);

/** Only recordings with a file: a form cannot say that a file is missing or was deleted. */
export const recordingsOfRecord = preparedQuery((of: Placeholders<RecordOfPath>) =>
  builder
    .select(egressColumns)
    .from(egresses)
    .where(
      and(
        inArray(egresses.id, visibleIds(of)),
        isNotNull(egresses.storage_key),
        ne(egresses.status, EGRESS_DELETED),
        of.reads_results,
      ),
    )
    .orderBy(asc(egresses.id)),
);

export const textsEntries = textEntries(isTextOfRecord);

/** The other entries that reading the same as JSON leaves. */
export const listEntries = [entryOfListOfCall("participant", idsOnCall), entryOfListOfCall("consent")];
