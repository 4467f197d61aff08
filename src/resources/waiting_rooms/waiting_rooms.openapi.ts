import type * as z from "zod";
import { type Fields, onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import {
  CARDIOLOGY,
  CLINIC,
  PAULA,
  PAULAS_ROOM,
  SAMS_ROOM,
  SET_UP_AT,
  WAITING_SINCE,
} from "../../openapi/story.ts";
import { sub } from "../waiting_room_subs/waiting_room_subs.openapi.ts";
import { resolvedWaitingRoomSchema, waitingRoomSchema } from "./waiting_rooms.responses.ts";

type WaitingRoom = z.input<typeof waitingRoomSchema>;

const created: WaitingRoom = {
  ...CARDIOLOGY,
  organization_id: CLINIC.id,
  user_id: null,
  theme: "default",
  is_active: true,
  created_at: SET_UP_AT,
  updated_at: SET_UP_AT,
  waiting_count: 0,
  user: { display_name: CLINIC.name },
};

const whileRitaWaits: WaitingRoom = { ...created, waiting_count: 1 };

const personal: WaitingRoom = {
  ...created,
  ...PAULAS_ROOM,
  organization_id: null,
  user_id: PAULA.user_id,
  user: { display_name: PAULA.display_name },
};

const closed: WaitingRoom = { ...created, is_active: false, updated_at: WAITING_SINCE };

const renamed: WaitingRoom = {
  ...closed,
  name: "Cardiology East",
  slug: "riverside-clinic--cardiology-east",
  theme: "calm",
};

const fields: Fields = {
  waiting_room: "The room.",
  "waiting_room.name":
    "The name of the room. Spaces at its ends are removed. Rooms can have the same name: their slugs differ.",
  "waiting_room.theme":
    "The theme of the room, for the web app. If the operator sets a list of themes, only those can be chosen.",
  "waiting_room.is_active":
    "Whether participants can enter the room. Those who are in it when it becomes inactive stay.",
};

const noRoom = { 404: ["Waiting room not found"] };

const refusedFields = [
  "waiting_room.slug: cannot be set; it is made from the name",
  "waiting_room.theme: must be 1 to 50 characters of a-z, 0-9, _ and -",
];

export const waitingRoomsReference: Reference = {
  tag: "Waiting rooms",
  description:
    "Rooms in which participants wait for their call. Every provider has a personal room, which is created when the person becomes a provider: the API lists it and can change it, but cannot create or retire it.",
  external: {
    "GET /waiting_rooms": {
      operationId: "listWaitingRooms",
      summary: "List the waiting rooms",
      description:
        "Lists the rooms of the organization and the personal rooms, active or not, ordered by id. Retired rooms are not in the list.",
      status: 200,
      response: {
        schema: pageOf("waiting_rooms", waitingRoomSchema),
        examples: {
          "A room of the organization, and a personal room": {
            waiting_rooms: [whileRitaWaits, personal],
            pagination: onePage(2),
          },
          "A page past the end": {
            waiting_rooms: [],
            pagination: { ...onePage(2), current_page: 2 },
          },
        },
      },
    },
    "POST /waiting_rooms": {
      operationId: "createWaitingRoom",
      summary: "Create a waiting room",
      description: "The room belongs to the organization. It is inactive by default.",
      status: 201,
      request: {
        fields: {
          ...fields,
          "waiting_room.theme": `${fields["waiting_room.theme"]} Without it, the theme is \`default\`.`,
        },
        example: { waiting_room: { name: CARDIOLOGY.name, theme: "default", is_active: true } },
      },
      response: { schema: waitingRoomSchema, example: created },
      errors: { 422: refusedFields },
    },
    "GET /waiting_rooms/:slug": {
      operationId: "getWaitingRoom",
      summary: "Get a waiting room",
      status: 200,
      response: {
        schema: waitingRoomSchema,
        examples: { "A room of the organization": whileRitaWaits, "A personal room": personal },
      },
      errors: noRoom,
    },
    "PUT /waiting_rooms/:slug": {
      operationId: "updateWaitingRoom",
      summary: "Update a waiting room",
      description:
        "Fields that are left out keep their values. If the name changes, the slug changes too, and links with the old slug stop working. A name that makes the same slug keeps it.",
      status: 200,
      request: {
        fields: {
          ...fields,
          "waiting_room.theme": `${fields["waiting_room.theme"]} A room can keep its present theme, even if that is not in the list any more.`,
        },
        examples: {
          "Only what changes": { waiting_room: { is_active: closed.is_active } },
          "Another name, theme and state": {
            waiting_room: { name: renamed.name, theme: renamed.theme, is_active: renamed.is_active },
          },
        },
      },
      response: {
        schema: waitingRoomSchema,
        examples: { "Only what changes": closed, "Another name, theme and state": renamed },
      },
      errors: { ...noRoom, 422: refusedFields },
    },
    "DELETE /waiting_rooms/:slug": {
      operationId: "retireWaitingRoom",
      summary: "Retire a waiting room",
      description:
        "The room is no longer listed and nobody can enter it. This cannot be undone. No other room gets its slug.",
      status: 204,
      errors: {
        ...noRoom,
        422: [
          "The waiting room is in use: a participant is present or a call is going on",
          "A personal room cannot be retired",
        ],
      },
    },
  },
  platform: {
    "GET /waiting_rooms/:slug": {
      operationId: "openWaitingRoom",
      summary: "Find where to send a participant who opens a waiting room",
      description:
        "Returns the room, its active sub if there is one, and `destination_slug`: the slug of the room to which to send the participant now. This is the substitute's room if a filled sub is active and the substitute's room is active. Otherwise it is the room itself.",
      status: 200,
      response: {
        schema: resolvedWaitingRoomSchema,
        examples: {
          "No sub is active": {
            waiting_room: whileRitaWaits,
            active_sub: null,
            destination_slug: CARDIOLOGY.slug,
          },
          "A filled sub is active": {
            waiting_room: created,
            active_sub: sub,
            destination_slug: SAMS_ROOM.slug,
          },
        },
      },
      errors: noRoom,
    },
  },
};
