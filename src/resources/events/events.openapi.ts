import type * as z from "zod";
import type { EventType } from "../../database/enums.ts";
import { DAY, EVENTS_KEPT_FOR } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { eventDataSchema, eventSchema, eventsSchema } from "./events.responses.ts";

/** When each type comes, and the ids in its data. */
export const TYPES: Record<EventType, [when: string, ids: string]> = {
  "call.started": ["A call is reported for the first time.", "organization_user_id, call_id"],
  "call.ended": ["It has ended.", "organization_user_id, call_id"],
  "transcript.finalized": [
    "The final transcript can be read: when it is reported, but not before the end of the call.",
    "organization_user_id, call_id",
  ],
  "soap_note.finalized": ["The same for the SOAP note.", "organization_user_id, call_id"],
  "egress.started": [
    "A recording is reported for the first time.",
    "organization_user_id, call_id, egress_id",
  ],
  "egress.ended": ["It has ended.", "organization_user_id, call_id, egress_id"],
  "egress.deleted": ["Its file was deleted.", "organization_user_id, call_id, egress_id"],
  "invite.accepted": ["The invitee has accepted.", "invite_id"],
  "bulk_invite.completed": ["All its rows are created or failed.", "bulk_invite_id"],
  "organization_user.added": [
    "Somebody becomes a user of the organization, for the first time or again.",
    "organization_user_id",
  ],
  "organization_user.removed": ["The membership has ended.", "organization_user_id"],
  "waiting_room_sub.changed": [
    "A sub is created, updated or deleted.",
    "waiting_room_id, waiting_room_sub_id",
  ],
};

export const EVENT_ID_MEANINGS: Record<string, string> = {
  organization_user_id: "The organization user: for a call and its results, the one who held the call.",
  call_id: "The call.",
  egress_id: "The recording: its `id` in the external API.",
  invite_id: "The invite.",
  bulk_invite_id: "The bulk invite.",
  waiting_room_id: "The `id` of the waiting room.",
  waiting_room_sub_id: "The sub. It may have been deleted.",
};

const table = Object.entries(TYPES)
  .map(([type, [when, ids]]) => `| \`${type}\` | ${when} | ${ids.replace(/\w+/g, "`$&`")} |`)
  .join("\n");

const started: z.input<typeof eventSchema> = {
  id: 1041,
  type: "call.started",
  created_at: "2026-01-31T09:30:00.000Z",
  data: { organization_user_id: 12, call_id: 300 },
};

const recorded: z.input<typeof eventSchema> = {
  id: 1042,
  type: "egress.started",
  created_at: "2026-01-31T09:31:00.000Z",
  data: { organization_user_id: 12, call_id: 300, egress_id: 44 },
};

export const eventsReference: Reference = {
  tag: "Events",
  description: `What happened in the organization, in order, for clients that would otherwise ask for everything again and again. An event holds only ids, never names, texts or URLs: read what it is about with them. A change and its event are written together, so there is never one without the other. Events are kept for ${EVENTS_KEPT_FOR / DAY} days. Only an organization_admin can read them.

| Type | When | Ids in \`data\` |
| --- | --- | --- |
${table}

There may be more types in the future: ignore those that you do not know.`,
  schemas: {
    Event: {
      schema: eventSchema,
      description: "Something that happened in the organization.",
      fields: {
        id: "The id of the event. A later event has a higher id.",
        type: "What happened: see the table of types.",
        created_at: "When it happened.",
        data: "The ids of what it is about: see the table of types.",
      },
    },
    EventData: {
      schema: eventDataSchema,
      description: "The ids of what an event is about. Each type of event has some of them.",
      fields: EVENT_ID_MEANINGS,
    },
  },
  external: {
    "GET /events": {
      operationId: "listEvents",
      summary: "List what happened",
      description:
        "Oldest first. Ask for the events after `next_after` of the response before; no event is skipped or shown twice. If there are none, `next_after` is the `after` of the request. Events are read from the nearest copy of the database, so an event may appear a moment late.",
      status: 200,
      response: {
        schema: eventsSchema,
        example: { events: [started, recorded], next_after: 1042 },
      },
      refusals: { 404: "The client is no organization_admin." },
    },
  },
};
