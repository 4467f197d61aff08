import * as z from "zod";
import type { EndedBy, ResultState } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { afterPositionQuery } from "../../http/pagination.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import * as wire from "../../http/wire.ts";
import { MAX_CALL_PARTICIPANTS } from "../../limits.ts";
import { reportBody } from "../../rooms/report.ts";
import { participantOnCall } from "../participants/participants.schemas.ts";
import { CALL_STAYS, PARTICIPANT_REPEATED, TOO_MANY_PARTICIPANTS } from "./calls.refusals.ts";
import type { callDetailsSchema, callSchema, reportedCallSchema } from "./calls.responses.ts";
import type { callColumns, columnsWithResults, holdColumns, reportedCallColumns } from "./calls.sql.ts";

export const reportCallBody = () =>
  reportBody({
    call: z
      .object({
        waiting_room_slug: wire.roomSlug(),
        organization_user_id: wire.id(),
        started_at: wire.pastInstant(),
        ended_at: wire.pastInstant().nullable(),
        failed: z.boolean().nullable(),
        legal_hold: z.boolean(),
        external_reference: wire.externalReference().nullable(),
        participants: z
          .array(participantOnCall())
          .max(MAX_CALL_PARTICIPANTS, TOO_MANY_PARTICIPANTS)
          .check(wire.distinct("key", PARTICIPANT_REPEATED)),
      })
      .partial(),
  });

export const callKeyParams = () => wire.organizationParams().extend({ key: wire.key() });

export const organizationUserParams = () => z.object({ organization_user_id: wire.pathId() });

export const callParams = () => z.object({ organization_user_id: wire.pathId(), call_id: wire.pathId() });

export type CallPath = z.output<ReturnType<typeof callParams>>;

export const updateCallBody = () =>
  z
    .object({ call: z.object({ external_reference: wire.externalReference().nullable() }).partial() })
    .register(unchangeable, CALL_STAYS);

const filters = () =>
  afterPositionQuery().extend({
    from: wire.day().optional(),
    to: wire.day().optional(),
    external_reference: wire.externalReference().optional(),
  });

export const callsOfOwnerQuery = () => inOrder(filters());

export const callsQuery = () =>
  inOrder(filters().extend({ participant_reference: wire.externalReference().optional() }));

export type CallsQuery = z.output<ReturnType<typeof callsQuery>>;

export type Call = Row<typeof columnsWithResults>;

export type ReportedCall = Row<typeof reportedCallColumns>;

const toFields = (row: Row<typeof callColumns>) => ({
  id: row.id,
  organization_user_id: row.organization_user_id,
  waiting_room_id: row.waiting_room_id,
  visit_id: row.visit_id,
  is_ended: row.ended_at !== null,
  started_at: wire.toTimestamp(row.started_at),
  ended_at: wire.toTimestampOrNull(row.ended_at),
});

export const toCall = (row: Call): z.input<typeof callSchema> => ({
  ...toFields(row),
  results: {
    transcript: resultState(row, row.transcript_is_final),
    soap_note: resultState(row, row.soap_note_is_final),
    egresses: row.egress_count,
  },
});

export type CallDetails = Call & Row<typeof holdColumns>;

function resultState({ ended_at }: Row<typeof callColumns>, is_final: boolean | null): ResultState {
  if (is_final === null) return "none";
  return is_final && ended_at !== null ? "ready" : "pending";
}

export const toCallDetails = (row: CallDetails): z.input<typeof callDetailsSchema> => ({
  ...toCall(row),
  ...toDetails(row),
});

export const toReportedCall = (row: ReportedCall): z.input<typeof reportedCallSchema> => ({
  ...toFields(row),
  key: row.key,
  ...toDetails(row),
});

function toDetails(row: Row<typeof callColumns> & Row<typeof holdColumns>) {
  const { hold_began_at, hold_begun_by, hold_reason: reason } = row;
  const isHeld = hold_began_at !== null && hold_begun_by !== null;
  const ended_by: EndedBy = row.end_is_assumed ? "assumed" : "reported";
  return {
    external_reference: row.external_reference,
    ended_by: row.ended_at === null ? null : ended_by,
    failed: row.failed ?? false,
    legal_hold: isHeld
      ? { reason, began_at: wire.toTimestamp(hold_began_at), begun_by: hold_begun_by }
      : null,
  };
}
