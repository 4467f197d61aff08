import { invalidBody } from "../../http/errors.ts";
import { MAX_SUBS_FOLLOWED } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { ETAG, pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { tooManyRooms } from "../../organization/usage/usage.refusals.ts";
import { waitingRoomSubSchema } from "../waiting_room_subs/waiting_room_subs.responses.ts";
import * as refusals from "./waiting_rooms.refusals.ts";
import { resolvedWaitingRoomSchema, waitingRoomSchema } from "./waiting_rooms.responses.ts";

const created = exampleOf(waitingRoomSchema);

const whileRitaWaits: typeof created = { ...created, waiting_count: 1 };

const personal: typeof created = {
  ...created,
  ...story.PAULAS_ROOM,
  organization_id: null,
  user_id: story.PAULA.user_id,
  user: { display_name: story.PAULA.display_name },
};

const renamed: typeof created = {
  ...created,
  name: "Cardiology East",
  slug: "riverside-clinic--cardiology-east",
  theme: "calm",
  is_active: false,
  updated_at: story.WAITING_SINCE,
};

const slugIsGenerated = invalidBody(`waiting_room.slug: ${refusals.SLUG_IS_GENERATED}`);

const otherTheme = refusals.themeNotOffered(["default", renamed.theme]);

export const waitingRoomsReference: Reference = {
  tag: "Waiting rooms",
  description:
    "Rooms in which participants wait for their call. Every provider has a personal room, which the service creates when the person becomes a provider. You can list and change personal rooms, but you cannot create or retire them.",
  external: {
    "GET /waiting_rooms": {
      operationId: "listWaitingRooms",
      summary: "List the waiting rooms",
      description:
        "Lists the organization's rooms and the personal rooms, active or not, ordered by id. Retired rooms are not listed. Events name a room by its id: use `id` to find the room and its current slug. With several filters, a room must match all of them.",
      parameters: {
        id: {
          description: "Only the room with this id. If it does not exist or is retired, the list is empty.",
          example: story.CARDIOLOGY.id,
        },
        user_id: { description: "Only the personal room of this user.", example: story.PAULA.user_id },
        name: {
          description: "Only rooms with exactly this name, in upper or lower case, in every alphabet.",
          example: story.CARDIOLOGY.name,
        },
        is_active: { description: "Only active rooms, or only inactive ones.", example: true },
      },
      response: pageResponse(
        "waiting_rooms",
        waitingRoomSchema,
        { "A room of the organization, and a personal room": [whileRitaWaits, personal] },
        2,
      ),
    },
    "POST /waiting_rooms": {
      operationId: "createWaitingRoom",
      summary: "Create a waiting room",
      description: "The room belongs to the organization. It is inactive by default.",
      response: { schema: waitingRoomSchema },
      errors: [slugIsGenerated, otherTheme, tooManyRooms()],
    },
    "GET /waiting_rooms/:slug": {
      operationId: "getWaitingRoom",
      headers: ETAG,
      summary: "Get a waiting room",
      response: { schema: waitingRoomSchema },
      errors: [refusals.waitingRoomNotFound()],
    },
    "PUT /waiting_rooms/:slug": {
      operationId: "updateWaitingRoom",
      summary: "Update a waiting room",
      description:
        "Omitted fields keep their values. If the name changes, the slug changes too, and links with the old slug stop working. A room can keep its theme even if the theme is no longer in the operator's list.",
      response: { schema: waitingRoomSchema, example: renamed },
      errors: [refusals.waitingRoomNotFound(), slugIsGenerated, otherTheme],
    },
    "DELETE /waiting_rooms/:slug": {
      operationId: "retireWaitingRoom",
      summary: "Retire a waiting room",
      description:
        "The room is no longer listed, and nobody can enter it. This cannot be undone. No other room gets its slug. Visits planned there stay planned, but their links stop working: move them to another room first (`PUT /visits/{id}`).",
      errors: [refusals.waitingRoomNotFound(), refusals.waitingRoomInUse(), refusals.personalRoomStays()],
    },
  },
  platform: {
    "GET /waiting_rooms/:slug": {
      operationId: "resolveWaitingRoom",
      summary: "Find where to send a participant who opens a waiting room",
      description: `Returns the organization, the room, its active sub if there is one, and \`destination_slug\`: the slug of the room to send the participant to now. This is the substitute's room if a filled sub is active and the substitute's room is active. If that room has an active sub too, the participant goes on to the next substitute's room, and so on. If no sub is active, if substitutes replace each other in a circle, or if there are more than ${MAX_SUBS_FOLLOWED} of them, it is the room itself.`,
      response: {
        schema: resolvedWaitingRoomSchema,
        examples: {
          "Without a substitute": {
            organization_id: story.CLINIC.id,
            waiting_room: whileRitaWaits,
            active_sub: null,
            destination_slug: story.CARDIOLOGY.slug,
          },
          "With a substitute": {
            organization_id: story.CLINIC.id,
            waiting_room: created,
            active_sub: exampleOf(waitingRoomSubSchema),
            destination_slug: story.SAMS_ROOM.slug,
          },
        },
      },
      errors: [refusals.waitingRoomNotFound(), organizationSuspended()],
    },
  },
};
