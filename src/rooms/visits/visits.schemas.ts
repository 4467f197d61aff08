import * as z from "zod";
import { PARTICIPANT_ROLES, VISIT_STATUSES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { afterPositionQuery } from "../../http/pagination.ts";
import * as wire from "../../http/wire.ts";
import { MAX_OWN_TOKEN_LENGTH, MAX_VISIT_PARTICIPANTS } from "../../limits.ts";
import type { Day } from "../../organization/metrics/local_days.ts";
import type { PersonRow } from "../people/people.sql.ts";
import { WRONG_NUMBER_OF_PARTICIPANTS } from "./visits.refusals.ts";
import { visitKey } from "./visits.reports.ts";
import type { listedVisitSchema, redeemedVisitSchema, visitMetricsSchema } from "./visits.responses.ts";
import type { dailyVisits, listedVisitColumns, visitColumns } from "./visits.sql.ts";

const visitFields = () =>
  z.object({
    waiting_room_slug: wire.roomSlug(),
    organization_user_id: wire.id().nullable().optional(),
    starts_at: wire.instant(),
    ends_at: wire.instant().optional(),
    external_reference: wire.externalReference().nullable().optional(),
  });

const participantFields = () =>
  z.object({
    role: z.enum(PARTICIPANT_ROLES),
    display_name: wire.name(),
    user_id: wire.id().nullable().optional(),
    external_reference: wire.externalReference().nullable().optional(),
  });

const listOfParticipants = <Participant extends z.ZodType>(participant: Participant) =>
  z
    .array(participant)
    .min(1, WRONG_NUMBER_OF_PARTICIPANTS)
    .max(MAX_VISIT_PARTICIPANTS, WRONG_NUMBER_OF_PARTICIPANTS);

export const createVisitBody = () =>
  z.object({ visit: visitFields().extend({ participants: listOfParticipants(participantFields()) }) });

export const updateVisitBody = () =>
  z.object({
    visit: visitFields()
      .extend({
        status: z
          .enum(VISIT_STATUSES)
          .meta({ description: "Only the current value is accepted. To cancel a visit, use `DELETE`." }),
        waiting_room_id: wire.id().meta({
          description:
            "Only the current value is accepted. To move a visit to another room, use `waiting_room_slug`.",
        }),
        participants: listOfParticipants(participantFields().partial().extend({ id: wire.id().optional() })),
      })
      .partial(),
  });

export type CreateVisit = z.output<ReturnType<typeof createVisitBody>>["visit"];

export type UpdateVisit = z.output<ReturnType<typeof updateVisitBody>>["visit"];

export const visitsQuery = () =>
  inOrder(
    z.object({
      from: wire.day().optional(),
      to: wire.day().optional(),
      status: z.enum(VISIT_STATUSES).optional(),
      external_reference: wire.externalReference().optional(),
      participant_reference: wire.externalReference().optional(),
      organization_user_id: wire.idAsText().optional(),
      ...afterPositionQuery().shape,
    }),
  );

export type VisitsQuery = z.output<ReturnType<typeof visitsQuery>>;

export const redeemVisitBody = () => z.object({ token: wire.reference(MAX_OWN_TOKEN_LENGTH) });

export type RedeemVisitBody = z.output<ReturnType<typeof redeemVisitBody>>;

export type Visit = Row<typeof visitColumns>;

export type ListedVisit = Row<typeof listedVisitColumns>;

/** A person invited to a visit, who has a link. Ids are 1, 2, …, and the id of a removed participant is not used again. */
export type VisitParticipant = ReturnType<typeof toVisitParticipant>;

export const toVisitParticipant = (person: PersonRow) => ({
  id: person.number ?? 0,
  role: person.role,
  display_name: person.display_name,
  user_id: person.user_id,
  external_reference: person.external_reference,
});

export interface VisitWithLinks extends Omit<Visit, "participants"> {
  participants: (VisitParticipant & { join_url: string })[];
}

type DailyVisits = Day<(typeof dailyVisits.counts)[number]>;

export interface RedeemedVisit {
  visit: Visit;
  participant: VisitParticipant;
  destination_slug: string;
}

type With<Participant, Visit> = Omit<Visit, "participants"> & { participants: Participant[] };

/** Serializes visits with and without links: the participants stay as they are. */
export const toVisit = <Participant>(
  row: With<Participant, ListedVisit>,
): With<Participant, z.input<typeof listedVisitSchema>> => ({
  id: row.id,
  waiting_room_id: row.waiting_room_id,
  organization_user_id: row.organization_user_id,
  external_reference: row.external_reference,
  status: row.status,
  starts_at: wire.toTimestamp(row.starts_at),
  ends_at: wire.toTimestamp(row.ends_at),
  call_ids: row.call_ids,
  participants: row.participants,
  created_at: wire.toTimestamp(row.created_at),
  updated_at: wire.toTimestamp(row.updated_at),
});

export function toRedeemedVisit({
  visit,
  participant,
  destination_slug,
}: RedeemedVisit): z.input<typeof redeemedVisitSchema> {
  return {
    organization_id: visit.organization_id,
    visit: {
      id: visit.id,
      starts_at: wire.toTimestamp(visit.starts_at),
      ends_at: wire.toTimestamp(visit.ends_at),
      status: visit.status,
    },
    participant: {
      key: visitKey(visit.id, participant.id),
      role: participant.role,
      display_name: participant.display_name,
      user_id: participant.user_id,
    },
    waiting_room_slug: visit.waiting_room_slug,
    destination_slug,
  };
}

export function toVisitMetrics(rows: DailyVisits[]): z.input<typeof visitMetricsSchema> {
  const each = (count: Exclude<keyof DailyVisits, "date">) =>
    Object.fromEntries(rows.map((row) => [row.date, row[count]]));
  return {
    planned: each("planned"),
    held: each("held"),
    missed: each("missed"),
    cancelled: each("cancelled"),
  };
}
