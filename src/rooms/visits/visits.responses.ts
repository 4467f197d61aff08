import * as z from "zod";
import { PARTICIPANT_ROLES, VISIT_STATUSES } from "../../database/enums.ts";
import { count, externalReference, id, key, name, roomSlug, timestamp } from "../../http/wire.ts";
import { DEFAULT_VISIT_DURATION, MAX_VISIT_AHEAD, MAX_VISIT_DURATION } from "../../lifetimes.ts";
import { MAX_VISIT_CALLS, MAX_VISIT_PARTICIPANTS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { byDate } from "../../organization/metrics/metrics.ts";
import { DAY, HOUR } from "../../units.ts";
import { visitKey } from "./visits.reports.ts";

const plannedParticipantSchema = named("PlannedParticipant", "A planned participant of a visit.", {
  id: id().meta({
    description:
      "The number of the planned participant within the visit. Send it in an update to keep the participant and their link.",
    example: story.VISIT.participant_id,
  }),
  role: z.enum(PARTICIPANT_ROLES).meta({
    description: "`recipient` for a patient, `provider` for the person who gives the consultation.",
    example: "recipient",
  }),
  display_name: name().meta({
    description: "The name that the participant is shown under; `Participant` once the name was erased.",
    example: story.RITAS_PARTICIPANT.display_name,
  }),
  user_id: field(id().nullable(), "The user who takes part; null for a person without an account.", null),
  external_reference: externalReference().nullable().meta({
    description: "Your own id for the person, or null.",
    example: story.RITAS_REFERENCE,
  }),
});

const invitedParticipantSchema = plannedParticipantSchema
  .extend({
    join_url: z
      .url()
      .max(2000)
      .meta({
        description:
          "The participant's own link. Send it to this person only, because anyone who opens the link joins under that person's name. It stays the same until the room gets another slug; earlier links keep working. To void it, remove the participant.",
        example: `${story.APP_URL}/meet/${story.CARDIOLOGY.slug}?visit=${story.VISIT_TOKEN}`,
      }),
  })
  .meta({ id: "InvitedParticipant", description: "A planned participant of a visit, with their link." });

const listOfPeople = <Participant extends z.ZodObject>(participant: Participant) =>
  z
    .array(participant)
    .max(MAX_VISIT_PARTICIPANTS)
    .meta({ description: "The planned participants, ordered by id.", example: [exampleOf(participant)] });

export const listedVisitSchema = named("ListedVisit", "A planned visit, without links.", {
  id: id().meta({ description: "The id of the visit.", example: story.VISIT.id }),
  waiting_room_id: field(id(), "The waiting room that the links lead to.", story.CARDIOLOGY.id),
  organization_user_id: id()
    .nullable()
    .describe(
      "The organization user who holds the visit. In a personal room, this is the owner, and you can omit it. In an organization's room, it is a provider, or null: then every client can read and change the visit.",
    ),
  external_reference: externalReference().nullable().meta({
    description: "Your own id for the visit, or null. Several visits can have the same reference.",
    example: story.VISIT_REFERENCE,
  }),
  status: z.enum(VISIT_STATUSES).meta({
    description:
      "`planned`: the visit has not started. `started`: a recipient of the visit joined a call. `ended`: its time is over, and no call of the visit is going on. `missed`: its time is over, and no recipient came; a later call changes the status to `started`. `cancelled`: the visit was cancelled. When the time is over, the status changes within five minutes.",
    example: "planned",
  }),
  starts_at: field(timestamp(), "The planned start of the visit.", story.VISIT_STARTS_AT),
  ends_at: timestamp().meta({
    description: `The planned end of the visit, at most ${MAX_VISIT_DURATION / HOUR} hours after its start. For a new visit, the default is ${DEFAULT_VISIT_DURATION / HOUR} hour after its start. A call may last longer. A visit that would already be over, or would end more than ${MAX_VISIT_AHEAD / DAY / 365} years ahead, is refused.`,
    example: story.VISIT_ENDS_AT,
  }),
  call_ids: z
    .array(id())
    .max(MAX_VISIT_CALLS)
    .meta({
      description: `The ids of the visit's calls, in ascending order: at most the first ${MAX_VISIT_CALLS}. \`GET /calls\` lists them for the visit's holder, also those that a substitute held.`,
      example: [],
    }),
  participants: listOfPeople(plannedParticipantSchema),
  created_at: timestamp().meta({ description: "When the visit was planned.", example: story.PLANNED_AT }),
  updated_at: field(timestamp(), "When the visit or its status last changed.", story.PLANNED_AT),
});

export const visitSchema = listedVisitSchema
  .extend({ participants: listOfPeople(invitedParticipantSchema) })
  .meta({ id: "Visit", description: "A planned visit, with a link for each participant." });

export const redeemedVisitSchema = z
  .object({
    organization_id: id().meta({ description: "The organization.", example: story.CLINIC.id }),
    visit: listedVisitSchema
      .pick({ id: true, starts_at: true, ends_at: true, status: true })
      .meta({ description: "The visit." }),
    participant: plannedParticipantSchema
      .pick({ role: true, display_name: true, user_id: true })
      .extend({
        key: key().meta({
          description:
            "The key under which to report the participant in the waiting room and on the call, and to use as their identity in LiveKit, so that the service recognizes them. On a further call, put your own text and `:` before the key, or `:` and your own text after it.",
          example: visitKey(story.VISIT.id, story.VISIT.participant_id),
        }),
      })
      .meta({
        description:
          "The invited person, who is not always the person who opened the link. If there is a `user_id`, the person must sign in first.",
      }),
    waiting_room_slug: roomSlug().meta({
      description: "The current slug of the visit's waiting room.",
      example: story.CARDIOLOGY.slug,
    }),
    destination_slug: roomSlug().meta({
      description:
        "The slug of the room to send the participant to now: as for `GET /waiting_rooms/{slug}`, the room of the last substitute whose room is active, otherwise the visit's room.",
      example: story.CARDIOLOGY.slug,
    }),
  })
  .meta({
    id: "RedeemedVisit",
    description: "The participant that a link invites, the visit, and the room to send the participant to.",
  });

const visitCount = (description: string, counts: [number, number]) =>
  byDate(count()).meta({ description, example: { "2026-01-30": counts[0], "2026-01-31": counts[1] } });

export const visitMetricsSchema = z
  .object({
    planned: visitCount("The number of visits that have not started yet.", [0, 3]),
    held: visitCount("The number of visits that have started, including those that have ended.", [2, 0]),
    missed: visitCount("The number of visits whose time is over and to which no recipient came.", [1, 0]),
    cancelled: visitCount("The number of cancelled visits.", [0, 1]),
  })
  .meta({
    id: "VisitMetrics",
    description:
      "Four maps from date (`YYYY-MM-DD`) to a number. A visit counts once, by its current status, on the date on which it starts. All four maps have the same dates, in ascending order; dates without visits are absent.",
  });
