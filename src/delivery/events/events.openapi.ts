import type * as z from "zod";
import type { EventType } from "../../database/enums.ts";
import { EVENTS_KEPT_FOR, RESULTS_AWAITED_FOR, UNFINISHED_RESULTS_AWAITED_FOR } from "../../lifetimes.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { DAY, MINUTE } from "../../units.ts";
import { exampleEvent, idsOfType, STORY } from "./events.examples.ts";
import { eventsSchema, type platformEventSchema, platformEventsSchema } from "./events.responses.ts";

/** The "When" column of the event table. */
export const EVENT_MEANINGS: Record<EventType, string> = {
  "call.started": "A call is reported for the first time.",
  "call.updated":
    "The reported details of a call have changed: who holds it, its `external_reference`, whether it failed, or, after its end, when it ended. This includes a reported end that replaces an assumed one.",
  "call.ended": "A call has ended, or is assumed to have ended because its end was never reported.",
  "call.results_ready": `The results of an ended call are ready: no text is a draft, and no recording is running. The event comes once for each call, within five minutes. A call without any text or recording waits for one for ${RESULTS_AWAITED_FOR / MINUTE} minutes after its end was reported. A text that stays a draft, or a recording that does not end, holds the event back for up to ${UNFINISHED_RESULTS_AWAITED_FOR / MINUTE} minutes. Results that arrive later have their own events.`,
  "participant.waiting":
    "Someone is waiting in a waiting room, or waited before joining a call: for the first time, again after leaving, or in a different room.",
  "participant.joined": "Someone has joined a call, for the first time or again after leaving.",
  "participant.left":
    "Someone has left a waiting room or a call, or is assumed to have left because their leaving was never reported. Everyone still on a call leaves when it ends.",
  "participant.updated":
    "The name, role, user or reference of someone who is waiting, on a call, or was there has changed. The event comes once for each of their calls and waits. Erasures have no event.",
  "transcript.finalized":
    "The final transcript of a call becomes available: it has been reported, and the call has ended.",
  "transcript.corrected":
    "The final transcript of a call was corrected by the organization. If you keep a copy, fetch it again.",
  "transcript.deleted":
    "The transcript of a call was deleted, on request or because its retention period ended. If you keep a copy, delete it too.",
  "soap_note.finalized":
    "The final SOAP note of a call becomes available: it has been reported, and the call has ended.",
  "soap_note.corrected":
    "The final SOAP note of a call was corrected by the organization. If you keep a copy, fetch it again.",
  "soap_note.deleted":
    "The SOAP note of a call was deleted, on request or because its retention period ended. If you keep a copy, delete it too.",
  "egress.started":
    "A recording is reported for the first time. It may never become available: wait for `egress.ended`.",
  "egress.ended":
    "A recording becomes available: it has ended or failed, its call has ended, and every participant has consented. If a consent arrives later, so does this event.",
  "egress.deleted": "The file of a recording was deleted.",
  "consent.withdrawn":
    "A participant has withdrawn their consent to the recording of a call. The recordings of the call are no longer available.",
  "invite.created": "Someone is invited, individually or in a bulk invite.",
  "invite.mail_failed":
    "The email of an invite was not sent and will not be: see the invite's `mail_status`.",
  "invite.accepted": "Someone has accepted an invite.",
  "bulk_invite.completed": "Every row of a bulk invite has either created an invite or failed.",
  "organization_user.added": "Someone has become a user of the organization, for the first time or again.",
  "organization_user.removed": "Someone is no longer a user of the organization.",
  "organization_user.updated":
    "The roles, the name or the email of a current or former user of the organization have changed, or the providers whom the user assists.",
  "organization.updated": "The name or a setting of the organization has changed.",
  "api_client.created": "An API client was created.",
  "api_client.revoked":
    "An API client was revoked, on request or because the membership of its user has ended. An API client that expires is not revoked.",
  "waiting_room.created":
    "A waiting room was created, or a retired personal room is back because its owner is a provider again.",
  "waiting_room.updated": "The name, the slug or a setting of a waiting room has changed.",
  "waiting_room.retired":
    "A waiting room was retired, on request or because the owner of a personal room is no longer a provider.",
  "waiting_room_sub.changed": "A sub was created, updated or deleted.",
  "visit.created": "A visit was planned.",
  "visit.updated": "A visit was changed before or after it started.",
  "visit.started":
    "A call with a recipient of the visit is reported for the first time, even if the visit had counted as missed.",
  "visit.ended": "The scheduled time of a started visit is over, and it has no ongoing call.",
  "visit.missed": "The scheduled time of a visit is over, and no recipient came.",
  "visit.cancelled": "A planned visit was cancelled.",
  "access_log.sealed":
    "A day of the access log was sealed. Keep the digest of its seal where the people who run the service cannot change it.",
};

const table = (Object.keys(EVENT_MEANINGS) as EventType[])
  .map((type) => {
    const { always, ifThereIs } = idsOfType(type);
    const names = [
      ...always.map((name) => `\`${name}\``),
      ...ifThereIs.map((name) => `\`${name}\` (of the call, if any)`),
    ];
    return `| \`${type}\` | ${EVENT_MEANINGS[type]} | ${names.join(", ") || "none"} |`;
  })
  .join("\n");

const events = (Object.keys(STORY) as EventType[]).map(exampleEvent);

/** Together, they show each id that an event can have. */
const shownEvents = events.filter(({ data }, n) =>
  Object.keys(data).some((id) => !events.slice(0, n).some((earlier) => id in earlier.data)),
);

const lastShown = shownEvents.at(-1) as (typeof shownEvents)[number];

/** An example as the platform sees it. */
const ofClinic = ({
  id,
  ...event
}: ReturnType<typeof exampleEvent>): z.input<typeof platformEventSchema> => ({
  id,
  organization_id: story.CLINIC.id,
  ...event,
});

const transcriptFinalized = exampleEvent("transcript.finalized");

export const eventsReference: Reference = {
  tag: "Events",
  description: `The events of an organization, in order, so that clients need not poll every resource. An event holds only ids (for a sealed day, its date and digest), never names, texts or URLs: use the ids to fetch the resource. A change and its event are written together, so there is never one without the other. Events are kept for ${EVENTS_KEPT_FOR / DAY} days. In the external API, only an organization_admin can read them; the platform API lists the events of all organizations.

| Type | When | Ids in \`data\` |
| --- | --- | --- |
${table}

The types of one kind of resource form a family: \`call.*\` stands for all types that begin with \`call.\`.

More types may be added: ignore types that you do not know.`,
  external: {
    "GET /events": {
      operationId: "listEvents",
      summary: "List events",
      description:
        "Oldest first. To read all events, pass `next_after` as `after` in the next request; after a full page there may be more. No event is skipped or returned twice. Events are read from the nearest replica of the database, so an event may appear with a short delay.",
      parameters: {
        type: {
          description: "Only events of this type or family of types, such as `call.*`.",
          example: "call.ended",
        },
        after: {
          description:
            "Only events with a higher id: the `next_after` of the previous response. Without it, the list begins with the oldest event still kept.",
          example: 1033,
        },
      },
      response: {
        schema: eventsSchema,
        examples: {
          "Events with each kind of id": { events: shownEvents, next_after: lastShown.id },
          "Only final transcripts": { events: [transcriptFinalized], next_after: transcriptFinalized.id },
        },
      },
    },
  },
  platform: {
    "GET /events": {
      operationId: "listEventsOfAllOrganizations",
      summary: "List the events of all organizations",
      description:
        "To read all events, pass `next_after` as `after` in the next request; after a full page there may be more. The events of each organization are in their order. No event is skipped or returned twice, even if an organization moves to another database. After a restore of a database, none is skipped, but old ones may come again. With several databases, the status is 503 while one of them does not answer.",
      parameters: {
        type: {
          description:
            "Only events of this type or family of types, such as `waiting_room.*`. Keep a position for each type that you follow.",
          example: "organization_user.*",
        },
        after: {
          description:
            "The position to continue from: 0, or the `next_after` of the previous response. Without it, the list begins with the oldest event still kept.",
          example: "1033",
        },
      },
      response: {
        schema: platformEventsSchema,
        examples: {
          "A membership has ended": {
            events: [ofClinic(exampleEvent("organization_user.removed"))],
            next_after: String(exampleEvent("organization_user.removed").id),
          },
          "Events with each kind of id": {
            events: shownEvents.map(ofClinic),
            next_after: String(lastShown.id),
          },
          "Three databases": {
            events: [ofClinic(exampleEvent("invite.accepted"))],
            next_after: `${exampleEvent("invite.accepted").id}~4294967310~8589934600`,
          },
        },
      },
    },
  },
};
