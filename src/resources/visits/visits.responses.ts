import * as z from "zod";
import { PARTICIPANT_ROLES, VISIT_STATUSES } from "../../database/enums.ts";
import { byDate } from "../../http/metrics.ts";
import { count, externalReference, id, key, name, roomSlug, timestamp } from "../../http/wire.ts";
import { DEFAULT_VISIT_DURATION, MAX_VISIT_DURATION } from "../../lifetimes.ts";
import { MAX_VISIT_CALLS, MAX_VISIT_PARTICIPANTS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import { visitKey } from "./visits.reports.ts";

const plannedParticipantSchema = z
  .object({
    id: id().meta({
      description:
        "The number of the planned participant within the visit: by it, a change keeps them, with their link.",
      example: story.VISIT.participant_id,
    }),
    role: z.enum(PARTICIPANT_ROLES).meta({
      description: "`recipient` for a patient, `provider` for the person who gives the consultation.",
      example: "recipient",
    }),
    display_name: name().meta({
      description: "The name under which the participant comes; `Participant` when it was erased.",
      example: story.RITAS_PARTICIPANT.display_name,
    }),
    user_id: id().nullable().meta({
      description: "The user who takes part; null for a person without an account.",
      example: null,
    }),
    external_reference: externalReference().nullable().meta({
      description: "The text by which another system knows the person; null if there is none.",
      example: story.RITAS_REFERENCE,
    }),
  })
  .meta({ id: "PlannedParticipant", description: "A person who is to take part in a visit." });

const invitedParticipantSchema = plannedParticipantSchema
  .extend({
    join_url: z
      .url()
      .max(2000)
      .meta({
        description:
          "The participant's own link. Send it to this person only: who has it comes under their name. It is the same each time it is read, until the room has another slug; an old one works too. To void it, remove the participant.",
        example: `https://app.example.com/meet/${story.CARDIOLOGY.slug}?visit=${story.VISIT_TOKEN}`,
      }),
  })
  .meta({ id: "InvitedParticipant", description: "A person who is to take part in a visit, with the link." });

const listOfPeople = <Participant extends z.ZodObject>(participant: Participant) =>
  z
    .array(participant)
    .max(MAX_VISIT_PARTICIPANTS)
    .meta({ description: "Who is to take part, by id.", example: [exampleOf(participant)] });

export const listedVisitSchema = z
  .object({
    id: id().meta({ description: "The id of the visit.", example: story.VISIT.id }),
    waiting_room_id: id().meta({
      description: "The waiting room to which the links lead.",
      example: story.CARDIOLOGY.id,
    }),
    organization_user_id: id().nullable().meta({
      description:
        "The organization user who holds the visit. In a personal room it is the owner, and can be left out. In a room of the organization it is a provider, or null: then every client can read and change the visit.",
      example: story.PAULA.id,
    }),
    external_reference: externalReference().nullable().meta({
      description:
        "The text by which another system knows the visit; null if there is none. Several visits can have the same.",
      example: story.VISIT_REFERENCE,
    }),
    status: z.enum(VISIT_STATUSES).meta({
      description:
        "`planned`; `started` as soon as a recipient of the visit was on a call; `ended` when its time is over and no call of it is going on; `missed` when its time is over and no recipient came, which a call that comes later changes to `started`; `cancelled`. After the end of its time, it changes within five minutes.",
      example: "ended",
    }),
    starts_at: timestamp().meta({ description: "When the visit is to start.", example: story.STARTED_AT }),
    ends_at: timestamp().meta({
      description: `When the visit is to end, at most ${MAX_VISIT_DURATION / HOUR} hours after its start. Left out of a new visit: ${DEFAULT_VISIT_DURATION / HOUR} hour after it. A call may last longer.`,
      example: story.VISIT_ENDS_AT,
    }),
    call_ids: z
      .array(id())
      .max(MAX_VISIT_CALLS)
      .meta({
        description: `The calls of the visit, by id: at most the first ${MAX_VISIT_CALLS}.`,
        example: [story.CALL.id],
      }),
    participants: listOfPeople(plannedParticipantSchema),
    created_at: timestamp().meta({
      description: "When the visit was planned.",
      example: story.VISIT_PLANNED_AT,
    }),
    updated_at: timestamp().meta({
      description: "When the visit was last changed, or its status.",
      example: story.VISIT_ENDED_AT,
    }),
  })
  .meta({ id: "ListedVisit", description: "A planned visit, without links." });

export const visitSchema = listedVisitSchema
  .extend({ participants: listOfPeople(invitedParticipantSchema) })
  .meta({ id: "Visit", description: "A planned visit, with a link for each who is to take part." });

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
            "The key under which to report them in the waiting room and on the call, and their identity in LiveKit: then they are known. On a further call, put a text of your own and `:` before it, or `:` and a text behind it.",
          example: visitKey(story.VISIT.id, story.VISIT.participant_id),
        }),
      })
      .meta({
        description:
          "Who was invited: not always who opened the link. If there is a `user_id`, sign in first.",
      }),
    waiting_room_slug: roomSlug().meta({
      description: "The present slug of the visit's waiting room.",
      example: story.CARDIOLOGY.slug,
    }),
    destination_slug: roomSlug().meta({
      description:
        "Where to send them now: the room of the substitute while a filled sub is active and that room is, else the visit's room.",
      example: story.CARDIOLOGY.slug,
    }),
  })
  .meta({
    id: "RedeemedVisit",
    description: "Whom a link invites, to which visit, and where they are to go.",
  });

const visitCount = (description: string, counts: [number, number]) =>
  byDate(count()).meta({ description, example: { "2026-01-31": counts[0], "2026-02-02": counts[1] } });

export const visitMetricsSchema = z
  .object({
    planned: visitCount("The number of visits that have not started yet.", [0, 3]),
    held: visitCount("The number of visits that have started, ended ones included.", [2, 0]),
    missed: visitCount("The number of visits whose time is over, and to which no recipient came.", [1, 0]),
    cancelled: visitCount("The number of visits that were cancelled.", [0, 1]),
  })
  .meta({
    id: "VisitMetrics",
    description:
      "Four maps from date (`YYYY-MM-DD`) to a number. A visit counts once, as it is now, on the UTC date on which it starts. All four maps have the same dates, in their order; dates without visits are absent.",
  });
