import { and, asc, eq, gt, inArray, isNotNull, lt, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { accessEntries } from "../../audit/access_logs/access_logs.entries.ts";
import { type OfReference, peopleOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { columnAs, hasValues } from "../../database/expressions.ts";
import { valuesFor } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { people } from "../../rooms/people/people.table.ts";
import { listedVisitColumns } from "../../rooms/visits/visits.sql.ts";
import { visits } from "../../rooms/visits/visits.table.ts";
import { participantExports } from "./participant_exports.table.ts";

export interface Lease {
  organization_id: number;
  token: string;
}

const id = columnAs(participantExports.organization_id, "id");

const hasLease = ({ organization_id, token }: Values<Lease>) =>
  hasValues(participantExports, { organization_id, token });

/** Returns no row while another export has the lease. */
export const takeLease = preparedQuery((lease: Placeholders<Lease & { lease_until: number; now: number }>) =>
  builder
    .insert(participantExports)
    .values(valuesFor(participantExports, lease))
    .onConflictDoUpdate({
      target: participantExports.organization_id,
      set: { token: sql`excluded.token`, lease_until: sql`excluded.lease_until` },
      setWhere: lt(participantExports.lease_until, lease.now),
    })
    .returning({ id }),
);

/** Returns no row once another export has taken over. */
export const renewLease = preparedQuery((lease: Placeholders<Lease & { lease_until: number }>) =>
  builder
    .update(participantExports)
    .set({ lease_until: lease.lease_until })
    .where(hasLease(lease))
    .returning({ id }),
);

export const releaseLease = preparedQuery((lease: Placeholders<Lease>) =>
  builder.delete(participantExports).where(hasLease(lease)),
);

/** Only for the export that has the lease. */
export const exportEntry = accessEntries(
  "participant",
  (of: Placeholders<Lease & { reference_digest: string | null }>) => ({
    organization_id: participantExports.organization_id,
    reference_digest: of.reference_digest,
    from: participantExports,
    where: hasLease(of),
  }),
);

const numbersIn = (list: string): number[] => JSON.parse(list);

/** The calls of the person, each with the ids of the person's records on it. */
export const callsOfPerson = preparedQuery((of: Placeholders<OfReference>) =>
  builder
    .select({
      call_id: columnAs(calls.id, "call_id"),
      organization_user_id: calls.organization_user_id,
      person_ids: sql`json_group_array(distinct ${participants.person_id})`
        .mapWith(numbersIn)
        .as("person_ids"),
    })
    .from(participants)
    .innerJoin(calls, eq(calls.id, participants.call_id))
    .where(inArray(participants.person_id, peopleOfReference(of)))
    .groupBy(calls.id)
    .orderBy(asc(calls.id)),
);

const planned = alias(people, "planned");

/** The planned visits that name the person, each with the person's numbers in it. */
export const visitsOfPerson = preparedQuery(
  (of: Placeholders<OfReference & { after: number; limit: number }>) => {
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
      .limit(of.limit);
  },
);
