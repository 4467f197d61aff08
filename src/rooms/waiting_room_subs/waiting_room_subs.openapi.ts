import { invalidBody } from "../../http/errors.ts";
import { DEFAULT_SUB_DURATION } from "../../lifetimes.ts";
import { MAX_SUBS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { listResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { grouped, HOUR } from "../../units.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import * as refusals from "./waiting_room_subs.refusals.ts";
import { waitingRoomSubSchema } from "./waiting_room_subs.responses.ts";

const shortened = {
  ...exampleOf(waitingRoomSubSchema),
  datetime_end: story.VISIT_ENDS_AT,
  updated_at: story.PLAN_CHANGED_AT,
};

const impossible = [
  invalidBody(`waiting_room_sub.datetime_start: ${refusals.NOT_IN_UTC}`),
  invalidBody(`waiting_room_sub.datetime_end: ${refusals.NOT_IN_UTC}`),
  refusals.subEndsTooEarly(),
  refusals.ownerSubstitutes(),
  refusals.substituteHasNoRoom(),
  refusals.subsOverlap(),
  refusals.subsOverlap(true),
  refusals.tooManySubs(),
];

export const waitingRoomSubsReference: Reference = {
  tag: "Waiting room subs",
  parameters: { id: { description: "The id of the sub.", example: story.SUB_ID } },
  description:
    "A waiting room sub is a substitution for a limited time. While a filled sub is active, participants who open the room are sent to the substitute's personal room, unless that room is inactive. Participants who are already waiting stay where they are. Subs of one room do not overlap; a sub may start at the time when another one ends.",
  external: {
    "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": {
      operationId: "listWaitingRoomSubs",
      summary: "List the subs of a waiting room",
      description:
        "Lists the subs that are not over yet, ordered by start: all of them, unless the request sends `per_page`.",
      response: listResponse(
        "waiting_room_subs",
        waitingRoomSubSchema,
        "The subs that are active now or start later, ordered by start.",
        MAX_SUBS,
      ),
      errors: [waitingRoomNotFound()],
    },
    "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs": {
      operationId: "createWaitingRoomSub",
      summary: "Create a sub of a waiting room",
      description: `The room can be the organization's or a personal one. A room has at most ${grouped(MAX_SUBS)} subs that are not over yet.`,
      request: {
        fields: {
          "waiting_room_sub.datetime_end": `The sub is no longer active at this time. If null or omitted, it is ${DEFAULT_SUB_DURATION / HOUR} hours after the start.`,
        },
      },
      response: { schema: waitingRoomSubSchema },
      errors: [waitingRoomNotFound(), ...impossible],
    },
    "PUT /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": {
      operationId: "updateWaitingRoomSub",
      summary: "Update a sub of a waiting room",
      description:
        "Omitted fields keep their values. If `user_id` is null, the sub keeps its time but redirects nobody. A sub that is over is no longer listed, but can still be updated.",
      response: { schema: waitingRoomSubSchema, example: shortened },
      errors: [waitingRoomNotFound(), refusals.subNotFound(), ...impossible],
    },
    "DELETE /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": {
      operationId: "deleteWaitingRoomSub",
      summary: "Delete a sub of a waiting room",
      description: "An active sub ends at once.",
      errors: [refusals.subNotFound()],
    },
  },
};
