import * as z from "zod";
import { PARTICIPANT_ROLES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import * as wire from "../../http/wire.ts";
import type { Person } from "../../rooms/people/people.sql.ts";
import { type ReportOrigin, reportBody } from "../../rooms/report.ts";
import { consentReport } from "../consents/consents.schemas.ts";
import { LEFT_BEFORE_WAITING, PARTICIPANT_STAYS } from "./participants.refusals.ts";
import type {
  participantOnCallSchema,
  participantSchema,
  waitingParticipantSchema,
} from "./participants.responses.ts";
import type { participantColumns, shownColumns } from "./participants.sql.ts";

const person = () =>
  z.object({
    display_name: wire.name(),
    role: z.enum(PARTICIPANT_ROLES),
    user_id: wire.id().nullable(),
    external_reference: wire.externalReference().nullable(),
  });

export const reportParticipantBody = () =>
  reportBody({
    participant: person()
      .extend({ waiting_since: wire.pastInstant(), left_at: wire.pastInstant().nullable() })
      .partial()
      .refine(({ waiting_since, left_at }) => !(waiting_since && left_at && left_at < waiting_since), {
        path: ["left_at"],
        error: LEFT_BEFORE_WAITING,
      }),
  });

export const participantOnCall = () =>
  person()
    .extend({
      waiting_since: wire.pastInstant().nullable(),
      joined_at: wire.pastInstant().nullable(),
      left_at: wire.pastInstant().nullable(),
    })
    .partial()
    .extend({ ...consentReport().shape, key: wire.key() })
    // Never refuses a refusal, whatever its clock says.
    .refine(({ recording_consent, recording_consent_at: at = 0 }) => !recording_consent || wire.isPast(at), {
      path: ["recording_consent_at"],
      error: wire.IN_FUTURE,
      abort: true,
    });

export const participantOfCallParams = () =>
  z.object({ organization_user_id: wire.pathId(), call_id: wire.pathId(), participant_id: wire.pathId() });

export type ParticipantPath = z.output<ReturnType<typeof participantOfCallParams>>;

export const updateParticipantBody = () =>
  z
    .object({ participant: person().pick({ display_name: true, external_reference: true }).partial() })
    .register(unchangeable, PARTICIPANT_STAYS);

export type ParticipantUpdate = z.output<ReturnType<typeof updateParticipantBody>>["participant"];

export const participantParams = () => z.object({ slug: wire.roomSlug(), key: wire.key() });

export type ParticipantReport = z.output<ReturnType<typeof reportParticipantBody>>["participant"] &
  ReportOrigin;

/** A reported participant of a call. Only an observer assumes missing fields. */
export type ReportOnCall = z.output<ReturnType<typeof participantOnCall>> & Partial<Pick<Person, "assumed">>;

export type Participant = Row<typeof participantColumns>;

export type ParticipantRow = Omit<Participant, "id"> & { id?: number };

export type ShownParticipant = Row<typeof shownColumns>;

export const toParticipant = (row: ShownParticipant): z.input<typeof participantSchema> => ({
  id: row.id,
  key: row.key,
  waiting_room_id: row.waiting_room_id,
  call_id: row.call_id,
  user_id: row.user_id,
  display_name: row.display_name,
  role: row.role,
  waiting_since: wire.toTimestampOrNull(row.waiting_since),
  joined_at: wire.toTimestampOrNull(row.joined_at),
  left_at: wire.toTimestampOrNull(row.left_at),
});

const toPerson = (row: ShownParticipant) => {
  const { id, role, user_id, display_name, external_reference } = row;
  return { id, role, user_id, display_name, external_reference };
};

export const toParticipantOnCall = (row: ShownParticipant): z.input<typeof participantOnCallSchema> => ({
  ...toPerson(row),
  waiting_since: wire.toTimestampOrNull(row.waiting_since),
  joined_at: wire.toTimestampOrNull(row.joined_at),
  left_at: wire.toTimestampOrNull(row.left_at),
  recording_consent: row.recording_consent,
});

export type WaitingParticipant = ShownParticipant & { waiting_since: number };

export const toWaitingParticipant = (row: WaitingParticipant): z.input<typeof waitingParticipantSchema> => ({
  ...toPerson(row),
  visit_id: row.visit_id,
  waiting_since: wire.toTimestamp(row.waiting_since),
});
