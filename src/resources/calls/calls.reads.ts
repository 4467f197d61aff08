import { and, eq, isNull, or, type SQLWrapper } from "drizzle-orm";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type RowsOf,
  type Statement,
  type Value,
} from "../../database/queries.ts";
import { calls, organizations, participants } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { consentsOfParticipants } from "../consents/consents.sql.ts";
import { selectMembersAmong } from "../organization_users/organization_users.sql.ts";
import {
  type NamedKeys,
  participantColumns,
  selectParticipantsByKeys,
} from "../participants/participants.sql.ts";
import { selectNamedVisits, visitIdsOf } from "../visits/visits.reports.ts";
import { selectRoomOfCall } from "../waiting_rooms/waiting_rooms.sql.ts";
import type { CallReport, KnownCall } from "./calls.merge.ts";
import { selectReportedCalls } from "./calls.sql.ts";

/** What a report names, as values of the reads on which it is decided. Lists are JSON arrays. */
interface Reported {
  slug: string | null;
  started_at: number | null;
  keys: string;
  digests: string;
  /** The ids of the visits that its keys name. */
  visit_ids: string;
  /** Of those participants of whom the report says a decision on consent. */
  deciding_keys: string;
  deciding_digests: string;
  /** Whether the report ends the call: then those who are on it leave. */
  is_end: boolean;
  member_ids: string;
}

/**
 * Makes the reads on which a report of a call is decided: the organization, the call, and what else the report names, all of them
 * of that organization.
 *
 * @param subjectOf from the values of the reads: SQL for the organization, and for the call
 */
export function callReads<Named extends object>(
  subjectOf: (values: Placeholders<Named>) => { organization_id: Value<number>; call_id: SQLWrapper },
) {
  type Subject = ReturnType<typeof subjectOf>;
  const read = <S extends Statement>(build: (subject: Subject, values: Placeholders<Reported>) => S) =>
    preparedQuery((values: Placeholders<Named & Reported>) =>
      build(subjectOf(values as unknown as Placeholders<Named>), values as Placeholders<Reported>),
    );
  const organization = read(({ organization_id }) =>
    selectColumn(organizations.id, eq(organizations.id, organization_id)),
  );
  const call = read(({ call_id }) => selectReportedCalls().where(eq(calls.id, call_id)));
  const room = read(({ organization_id }, { slug, started_at }) =>
    selectRoomOfCall(organization_id, slug, started_at),
  );
  const named = read(({ organization_id }, values) => selectParticipantsByKeys(organization_id, values));
  const consents = read(({ organization_id }, { deciding_keys: keys, deciding_digests: digests }) =>
    consentsOfParticipants(organization_id, { keys, digests }),
  );
  // Those too whose leaving was only assumed.
  const present = read(({ call_id }, { is_end }) =>
    builder
      .select(participantColumns)
      .from(participants)
      .where(
        and(
          eq(participants.call_id, call_id),
          is_end,
          or(isNull(participants.left_at), participants.left_is_assumed),
        ),
      )
      .orderBy(participants.id),
  );
  const planned = read(({ organization_id }, { visit_ids }) => selectNamedVisits(organization_id, visit_ids));
  const members = read(({ organization_id }, { member_ids }) =>
    selectMembersAmong(organization_id, member_ids),
  );
  return (values: Named & Reported) =>
    tuple(
      organization(values),
      call(values),
      room(values),
      named(values),
      consents(values),
      present(values),
      members(values),
      planned(values),
    );
}

const tuple = <Items extends unknown[]>(...items: Items): Items => items;

/** The values by which the reads find what a report of the platform names. */
export function valuesOfReport(report: CallReport, named: NamedKeys): Reported {
  const {
    waiting_room_slug,
    organization_user_id,
    started_at,
    ended_at,
    participants: reported = [],
  } = report;
  const deciding = reported.filter(({ recording_consent }) => recording_consent !== undefined);
  const { keys, digests } = named.valuesOf(deciding.map(({ key }) => key));
  return {
    slug: waiting_room_slug ?? null,
    started_at: started_at ?? null,
    ...named.values,
    visit_ids: visitIdsOf(reported.map(({ key }) => key)),
    deciding_keys: keys,
    deciding_digests: digests,
    is_end: typeof ended_at === "number",
    member_ids: JSON.stringify([organization_user_id, ...reported.map(({ user_id }) => user_id)]),
  };
}

/** What the reads after that of the call have found. */
export function knownOfReport(
  named: NamedKeys,
  [[room], found, consents, present, members, planned]: RowsAfterCall,
): Pick<KnownCall, "room" | "participants" | "consents" | "present" | "members" | "planned"> {
  return {
    room,
    participants: named.identify(found),
    consents,
    present,
    members: new Set(members.map(({ id }) => id)),
    planned,
  };
}

type RowsOfReads = RowsOf<ReturnType<ReturnType<typeof callReads>>>;

type RowsAfterCall = RowsOfReads extends [unknown, unknown, ...infer Rest] ? Rest : never;
