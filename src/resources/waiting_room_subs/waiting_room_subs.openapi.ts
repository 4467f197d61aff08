import * as z from "zod";
import { DEFAULT_SUB_DURATION, HOUR } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { waitingRoomSubSchema } from "./waiting_room_subs.responses.ts";

export const sub: z.input<typeof waitingRoomSubSchema> = {
  id: 21,
  waiting_room_id: 7,
  user_id: 35,
  sub_waiting_room_slug: "riverside-clinic--sam-substitute",
  datetime_start: "2026-02-02T08:00:00.000Z",
  datetime_end: "2026-02-02T16:00:00.000Z",
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

const refused =
  "The times overlap another sub of the room, the end is not after the start, or `user_id` is the owner of the room or a user without a personal room in the organization.";

export const waitingRoomSubsReference: Reference = {
  tag: "Waiting room subs",
  description:
    "A waiting room sub is a substitution for a limited time. While a filled sub is active, participants who open the room are sent to the personal room of the substitute.",
  schemas: {
    WaitingRoomSub: {
      schema: waitingRoomSubSchema,
      description: "A substitution in a waiting room for a limited time.",
      fields: {
        id: "The id of the sub.",
        waiting_room_id: "The waiting room that the sub belongs to.",
        user_id: "The substitute; null while the sub is not filled.",
        sub_waiting_room_slug:
          "The current slug of the substitute's personal room; null while the sub is not filled.",
        datetime_start: "When the sub starts.",
        datetime_end: "When the sub ends.",
        created_at: "When the sub was created.",
        updated_at: "When the sub last changed.",
      },
    },
  },
  external: {
    "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": {
      operationId: "listWaitingRoomSubs",
      summary: "List the subs of a waiting room",
      description: "Subs that are not over yet, ordered by their start.",
      status: 200,
      response: {
        schema: z.object({ waiting_room_subs: z.array(waitingRoomSubSchema) }),
        example: { waiting_room_subs: [sub] },
      },
    },
    "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs": {
      operationId: "createWaitingRoomSub",
      summary: "Create a sub of a waiting room",
      description: `Times must be in UTC: they end in \`Z\` or \`+00:00\` (\`z\`, \`+0000\` and \`+00\` too). Without \`datetime_end\`, the sub ends ${DEFAULT_SUB_DURATION / HOUR} hours after its start. A sub may begin when another ends, but subs of one room must not overlap. Times in the past are accepted.`,
      status: 201,
      request: {
        fields: {},
        example: {
          waiting_room_sub: {
            user_id: 35,
            datetime_start: "2026-02-02T08:00:00Z",
            datetime_end: "2026-02-02T16:00:00Z",
          },
        },
      },
      response: { schema: waitingRoomSubSchema, example: sub },
      refusals: { 422: refused },
    },
    "PUT /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": {
      operationId: "updateWaitingRoomSub",
      summary: "Update a sub of a waiting room",
      description: "Fields that are left out keep their values. `user_id` null makes the sub unfilled.",
      status: 200,
      request: { fields: {}, example: { waiting_room_sub: { datetime_end: "2026-02-02T16:00:00Z" } } },
      response: { schema: waitingRoomSubSchema, example: sub },
      refusals: { 422: refused },
    },
    "DELETE /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": {
      operationId: "deleteWaitingRoomSub",
      summary: "Delete a sub of a waiting room",
      status: 204,
    },
  },
};
