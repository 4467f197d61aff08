import { and, eq, isNull, or, type SQLWrapper } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type RowsOf,
  requireFirst,
  type Statement,
  type Value,
} from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { dateOf } from "../../http/dates.ts";
import { selectMembersAmong } from "../../organization/members/members.sql.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { countVisits } from "../../organization/usage/usage.sql.ts";
import { writePeople } from "../../rooms/people/people.sql.ts";
import { plannedIn, selectNamedVisits, startVisits } from "../../rooms/visits/visits.reports.ts";
import { selectRoomOfCall } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import {
  consentsOfParticipants,
  deleteRefusals,
  insertConsents,
  selectRefusals,
} from "../consents/consents.sql.ts";
import { holdWrites } from "../legal_holds/legal_holds.sql.ts";
import {
  joinErased,
  type NamedKeys,
  namedKeys,
  participantColumns,
  selectParticipantsByKeys,
  selectPeopleByKeys,
  writeParticipants,
} from "../participants/participants.sql.ts";
import { participants } from "../participants/participants.table.ts";
import { type CallReport, type KnownCall, mergeCall } from "./calls.merge.ts";
import { callNotFound } from "./calls.refusals.ts";
import type { ReportedCall } from "./calls.schemas.ts";
import * as sql from "./calls.sql.ts";
import { calls } from "./calls.table.ts";

type Reported = ReturnType<typeof valuesOfReport>;

/** @param subjectOf returns SQL for the organization, the call, and the key of the call, given the values of the reads */
export function callReads<Named extends object>(
  subjectOf: (values: Placeholders<Named>) => {
    organization_id: Value<number>;
    call_id: SQLWrapper;
    key: Value<string>;
  },
) {
  type Subject = ReturnType<typeof subjectOf>;
  const read = <S extends Statement>(build: (subject: Subject, values: Placeholders<Reported>) => S) =>
    preparedQuery((values: Placeholders<Named & Reported>) =>
      build(subjectOf(values as unknown as Placeholders<Named>), values as Placeholders<Reported>),
    );
  const reads = {
    organization: read(({ organization_id }) =>
      selectColumn(organizations.id, eq(organizations.id, organization_id)),
    ),
    call: read(({ call_id }) => sql.selectReportedCalls().where(eq(calls.id, call_id))),
    room: read(({ organization_id }, { slug }) => selectRoomOfCall(organization_id, slug)),
    participants: read(({ organization_id }, values) => selectParticipantsByKeys(organization_id, values)),
    people: read(({ organization_id }, values) => selectPeopleByKeys(organization_id, values)),
    consents: read(({ organization_id }, { deciding_keys: keys, deciding_digests: digests }) =>
      consentsOfParticipants(organization_id, { keys, digests }),
    ),
    // Includes participants whose leaving was only assumed.
    present: read(({ call_id }, { is_end }) =>
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
    ),
    members: read(({ organization_id }, { member_ids }) => selectMembersAmong(organization_id, member_ids)),
    planned: read(({ organization_id }, { visit_ids }) => selectNamedVisits(organization_id, visit_ids)),
    refusals: read(({ organization_id, key }) => selectRefusals(organization_id, key)),
  };
  type Reads = typeof reads;
  return (values: Named & Reported) =>
    Object.fromEntries(Object.entries(reads).map(([name, each]) => [name, each(values)])) as {
      [Name in keyof Reads]: ReturnType<Reads[Name]>;
    };
}

/** The objects that a report names, as values of the reads for its decision. Lists are JSON arrays. */
function valuesOfReport(report: CallReport, named: NamedKeys) {
  const { waiting_room_slug, organization_user_id, ended_at, participants: reported = [] } = report;
  const deciding = reported.filter(({ recording_consent }) => recording_consent !== undefined);
  const { keys, digests } = named.valuesOf(deciding.map(({ key }) => key));
  return {
    slug: waiting_room_slug ?? null,
    ...named.values,
    ...plannedIn(reported.map(({ key }) => key)),
    // The participants whose decision on consent the report contains.
    deciding_keys: keys,
    deciding_digests: digests,
    is_end: typeof ended_at === "number",
    member_ids: JSON.stringify([organization_user_id, ...reported.map(({ user_id }) => user_id)]),
  };
}

export function knownOfReport(
  named: NamedKeys,
  { call: [call], room: [room], participants: found, members, refusals, ...others }: Rows,
): Omit<KnownCall, "organization_id"> {
  return {
    ...others,
    call,
    room,
    participants: named.identify(found),
    members: new Set(members.map(({ id }) => id)),
    refusalsOf: (key) => {
      const digest = named.digestOf(key);
      return refusals.filter((each) => each.key_digest === digest || each.other_digest === digest);
    },
  };
}

type Rows = RowsOf<Omit<ReturnType<ReturnType<typeof callReads>>, "organization">>;

export const requireReportedCall = ({ db }: Context, call: sql.CallKey): Promise<ReportedCall> =>
  requireFirst(db, sql.callByKey(call), callNotFound);

export async function reportCall(
  context: Context,
  { organization_id, key }: sql.CallKey,
  report: CallReport,
) {
  const { settings } = context;
  const keys = (report.participants ?? []).map((each) => each.key);
  const named = await namedKeys(settings, keys);
  return decideAndWrite(
    context,
    reportReads({ organization_id, key, ...valuesOfReport(report, named) }),
    ({ organization: [organization], ...rows }) => {
      if (!organization) throw organizationNotFound();
      return decideCall(context, { organization_id, ...knownOfReport(named, rows) }, key, report);
    },
  );
}

const reportReads = callReads((call: Placeholders<sql.CallKey>) => ({
  organization_id: call.organization_id,
  key: call.key,
  call_id: sql.callIdByKey(call),
}));

export async function decideCall(
  context: Context,
  known: KnownCall,
  key: string,
  report: CallReport,
): Promise<Decision<ReportedCall>> {
  const { now, settings } = context;
  const { organization_id, call: before } = known;
  const written = { organization_id, key };
  const next = mergeCall(known, key, report, now);
  const { call, participants, people, erased, consents, taken, beginsHold, startedVisits } = next;
  const lists = [participants, people, erased, consents, taken, startedVisits];
  const isSame = call === before && lists.every(({ length }) => length === 0) && !beginsHold;
  if (before && isSame) return { unchanged: before };
  const { hold_id = null, hold_reason: reason = null } = before ?? {};
  const hold = beginsHold && holdWrites(context, { ...written, hold_id }, { begun_by: "platform", reason });
  return {
    writes: [
      ...(before
        ? [sql.callWrites.update(before, { ...before, ...call })]
        : [sql.callWrites.insert(call), countVisits({ organization_id, date: dateOf(now), count: 1 })]),
      ...(await writePeople(settings, people)),
      writeParticipants(participants.map((each) => ({ ...each, call_key: key }))),
      ...(hold ? [hold.write] : []),
      ...(erased.length > 0 ? [joinErased({ ids: JSON.stringify(erased), ...written })] : []),
      ...(startedVisits.length > 0 ? [startVisits({ ids: JSON.stringify(startedVisits), now })] : []),
      ...(consents.length > 0 ? [insertConsents(consents)] : []),
      ...(taken.length > 0 ? [deleteRefusals({ ...written, digests: JSON.stringify(taken) })] : []),
      ...(call.ended_at !== null && !before?.ended_at ? [sql.announceRecordingsOf({ ...written, now })] : []),
      sql.callByKey(written),
    ],
    entries: hold ? [hold.entry] : [],
  };
}
