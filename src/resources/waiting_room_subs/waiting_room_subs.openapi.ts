import * as z from "zod";
import { DEFAULT_SUB_DURATION, HOUR } from "../../limits.ts";
import type { Fields, Parameter, Reference } from "../../openapi/operation.ts";
import {
  CARDIOLOGY,
  SAM,
  SAMS_ROOM,
  SUB_CHANGED_AT,
  SUB_ENDS_AT,
  SUB_ID,
  SUB_PLANNED_AT,
  SUB_STARTS_AT,
} from "../../openapi/story.ts";
import { waitingRoomSubSchema } from "./waiting_room_subs.responses.ts";

type WaitingRoomSub = z.input<typeof waitingRoomSubSchema>;

export const sub: WaitingRoomSub = {
  id: SUB_ID,
  waiting_room_id: CARDIOLOGY.id,
  user_id: SAM.user_id,
  sub_waiting_room_slug: SAMS_ROOM.slug,
  datetime_start: SUB_STARTS_AT,
  datetime_end: SUB_ENDS_AT,
  created_at: SUB_PLANNED_AT,
  updated_at: SUB_PLANNED_AT,
};

const moved: WaitingRoomSub = {
  ...sub,
  datetime_start: "2026-02-02T09:00:00.000Z",
  datetime_end: "2026-02-02T17:00:00.000Z",
  updated_at: SUB_CHANGED_AT,
};

const unfilled: WaitingRoomSub = {
  ...sub,
  user_id: null,
  sub_waiting_room_slug: null,
  updated_at: SUB_CHANGED_AT,
};

const UTC = "ISO 8601 in UTC: it ends in `Z` or `+00:00`. A time in the past is accepted.";

const fields: Fields = {
  waiting_room_sub: "The sub.",
  "waiting_room_sub.user_id":
    "The user who substitutes: a `user_id` of `GET /organization_users`, not an `id`. The user needs a personal room, so the role `provider`, and must not be the owner of the room.",
  "waiting_room_sub.datetime_start": `When the sub starts. ${UTC}`,
  "waiting_room_sub.datetime_end": `When the sub ends. ${UTC}`,
};

const id: Parameter = { description: "The id of the sub.", example: SUB_ID };

const noRoom = "Waiting room not found";

const noSub = "Waiting room sub not found";

const refused = [
  "waiting_room_sub.datetime_start: must be in UTC: end in Z or +00:00",
  "waiting_room_sub.datetime_end: must be in UTC: end in Z or +00:00",
  "waiting_room_sub.datetime_end: must be after datetime_start",
  "waiting_room_sub.user_id: must not be the owner of the room",
  "waiting_room_sub.user_id: must be a user of the organization who has a personal waiting room",
  "The times overlap another sub of the waiting room",
];

export const waitingRoomSubsReference: Reference = {
  tag: "Waiting room subs",
  description:
    "A waiting room sub is a substitution for a limited time. While a filled sub is active, participants who open the room are sent to the personal room of the substitute, unless that room is inactive. Participants who wait already stay where they are. Subs of one room do not overlap; one may start at the time when another ends.",
  external: {
    "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": {
      operationId: "listWaitingRoomSubs",
      summary: "List the subs of a waiting room",
      description: "Lists the subs that are not over yet, ordered by their start, all on one page.",
      status: 200,
      response: {
        schema: z.object({
          waiting_room_subs: z
            .array(waitingRoomSubSchema)
            .describe("The subs that are active now or start later, in the order of their start."),
        }),
        examples: {
          "A filled sub": { waiting_room_subs: [sub] },
          "A sub that is not filled": { waiting_room_subs: [unfilled] },
          "No subs": { waiting_room_subs: [] },
        },
      },
      errors: { 404: [noRoom] },
    },
    "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs": {
      operationId: "createWaitingRoomSub",
      summary: "Create a sub of a waiting room",
      description: "The room can be the organization's or a personal one.",
      status: 201,
      request: {
        fields: {
          ...fields,
          "waiting_room_sub.datetime_end": `${fields["waiting_room_sub.datetime_end"]} Null, or left out: ${DEFAULT_SUB_DURATION / HOUR} hours after the start.`,
        },
        example: {
          waiting_room_sub: {
            user_id: SAM.user_id,
            datetime_start: "2026-02-02T08:00:00Z",
            datetime_end: "2026-02-02T16:00:00Z",
          },
        },
      },
      response: { schema: waitingRoomSubSchema, example: sub },
      errors: { 404: [noRoom], 422: refused },
    },
    "PUT /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": {
      operationId: "updateWaitingRoomSub",
      summary: "Update a sub of a waiting room",
      description:
        "Fields that are left out keep their values. A sub that is over is no longer listed, but can still be updated.",
      status: 200,
      parameters: { id },
      request: {
        fields: {
          ...fields,
          "waiting_room_sub.user_id": `${fields["waiting_room_sub.user_id"]} Null makes the sub unfilled: it keeps its time, but sends nobody anywhere.`,
        },
        examples: {
          "Other times": {
            waiting_room_sub: {
              datetime_start: "2026-02-02T09:00:00Z",
              datetime_end: "2026-02-02T17:00:00Z",
            },
          },
          "Nobody substitutes any more": { waiting_room_sub: { user_id: null } },
        },
      },
      response: {
        schema: waitingRoomSubSchema,
        examples: { "With other times": moved, "Not filled any more": unfilled },
      },
      errors: { 404: [noRoom, noSub], 422: refused },
    },
    "DELETE /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": {
      operationId: "deleteWaitingRoomSub",
      summary: "Delete a sub of a waiting room",
      description: "An active sub ends at once.",
      status: 204,
      parameters: { id },
      refusals: { 404: "The room does not exist or has no such sub." },
      errors: { 404: [noSub] },
    },
  },
};
