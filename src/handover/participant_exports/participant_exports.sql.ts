import { and, asc, eq, gt, inArray, isNotNull, lt, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { accessEntries } from "../../audit/access_logs/access_logs.entries.ts";
import { type OfReference, peopleOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { columnAs, hasValues } from "../../database/expressions.ts";
import { excluded } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { EXPORT_LEASE } from "../../lifetimes.ts";
import { people } from "../../rooms/people/people.table.ts";
import { listedVisitColumns } from "../../rooms/visits/visits.sql.ts";
import { visits } from "../../rooms/visits/visits.table.ts";
import { EXPORTED_ROWS } from "../../tuning.ts";
import { participantExports } from "./participant_exports.table.ts";

export interface Lease {
  organization_id: number;
  token: string;
}

const hasLease = ({ organization_id, token }: Values<Lease>) =>
  hasValues(participantExports, { organization_id, token });

/** Takes the lease, or renews it. Returns no row while another export has it. */
export const takeLease = preparedQuery((lease: Placeholders<Lease & { now: number }>) => {
  const { organization_id, token, lease_until } = participantExports;
  const until = sql`${lease.now} + ${sql.raw(String(EXPORT_LEASE))}`;
  return builder
    .insert(participantExports)
    .values({ organization_id: lease.organization_id, token: lease.token, lease_until: until })
    .onConflictDoUpdate({
      target: organization_id,
      set: { token: excluded(token), lease_until: excluded(lease_until) },
      setWhere: or(lt(lease_until, lease.now), eq(token, lease.token)),
    })
    .returning({ token });
});

export const releaseLease = preparedQuery((lease: Placeholders<Lease>) =>
  builder.delete(participantExports).where(hasLease(lease)),
);

/** Only for the export that has the lease. */
export const exportEntry = accessEntries("participant", (of: Placeholders<Lease & OfReference>) => ({
  organization_id: participantExports.organization_id,
  reference_digest: of.reference_digest,
  from: participantExports,
  where: hasLease(of),
}));

const numbersIn = (list: string): number[] => JSON.parse(list);

/** Pages in the order of ids, so that no request reads more at once. */
type OfPage = Placeholders<OfReference & { after: number }>;

/** The calls of the person, each with the ids of the person's records on it. */
export const callsOfPerson = preparedQuery((of: OfPage) =>
  builder
    .select({
      id: columnAs(calls.id, "id"),
      organization_user_id: calls.organization_user_id,
      person_ids: sql`json_group_array(distinct ${participants.person_id})`
        .mapWith(numbersIn)
        .as("person_ids"),
    })
    .from(participants)
    .innerJoin(calls, eq(calls.id, participants.call_id))
    .where(and(inArray(participants.person_id, peopleOfReference(of)), gt(calls.id, of.after)))
    .groupBy(calls.id)
    .orderBy(asc(calls.id))
    .limit(EXPORTED_ROWS),
);

const planned = alias(people, "planned");

/** The planned visits that name the person, each with the person's numbers in it. */
export const visitsOfPerson = preparedQuery((of: OfPage) => {
  const isPerson = and(inArray(planned.id, peopleOfReference(of)), isNotNull(planned.number));
  const numbers = builder
    .select({ list: sql`json_group_array(${planned.number})` })
    .from(planned)
    .where(and(eq(planned.visit_id, visits.id), isPerson));
  return builder
    .select({ ...listedVisitColumns, numbers: sql`${numbers}`.mapWith(numbersIn).as("numbers") })
    .from(visits)
    .where(and(inArray(visits.id, selectColumn(planned.visit_id, isPerson)), gt(visits.id, of.after)))
    .orderBy(asc(visits.id))
    .limit(EXPORTED_ROWS);
});
