import type * as z from "zod";
import { pageOf, paginationExample, type Reference } from "../../openapi/operation.ts";
import { resolvedWaitingRoomSchema, waitingRoomSchema } from "./waiting_rooms.responses.ts";

const room: z.input<typeof waitingRoomSchema> = {
  id: 7,
  organization_id: 1,
  user_id: null,
  name: "Cardiology",
  slug: "riverside-clinic--cardiology",
  theme: "default",
  is_active: true,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
  waiting_count: 2,
  user: { display_name: "Riverside Clinic" },
};

const refusedFields =
  "The body contains a `slug`, whatever its value, or a theme that is not in the operator's list.";

export const waitingRoomsReference: Reference = {
  tag: "Waiting rooms",
  description:
    "Rooms in which participants wait for their call. Every provider has a personal room, which is created when the person becomes a provider: the API lists it and can change it, but cannot create or retire it.",
  schemas: {
    WaitingRoom: {
      schema: waitingRoomSchema,
      description: "A room in which participants wait.",
      fields: {
        id: "The id of the room.",
        organization_id: "The organization that owns the room; null for a personal room.",
        user_id: "The user who owns a personal room; null for an organization's room.",
        name: "The name of the room.",
        slug: "The last part of the room's URL: the organization's slug, `--`, and the name in kebab case, with `-2`, `-3` and so on if another room has or had that. The service makes it; it cannot be set. It changes when the name changes. No other room ever gets the old slug, but the room itself gets it back if it is renamed back.",
        theme:
          "The theme of the room; `default` if none was chosen. If the operator sets a list of themes, only those can be chosen.",
        is_active: "Whether participants can enter the room.",
        created_at: "When the room was created.",
        updated_at: "When the room last changed.",
        waiting_count: "The number of participants who are waiting now.",
        user: "The owner of the room. `display_name` is the name of the user for a personal room, and the name of the organization for other rooms.",
      },
    },
  },
  external: {
    "GET /waiting_rooms": {
      operationId: "listWaitingRooms",
      summary: "List the waiting rooms",
      description: "Lists the rooms of the organization and the personal rooms, ordered by id.",
      status: 200,
      response: {
        schema: pageOf("waiting_rooms", waitingRoomSchema),
        example: { waiting_rooms: [room], pagination: paginationExample },
      },
    },
    "POST /waiting_rooms": {
      operationId: "createWaitingRoom",
      summary: "Create a waiting room",
      description: "The room belongs to the organization. It is inactive by default.",
      status: 201,
      requestExample: { waiting_room: { name: "Cardiology", theme: "default", is_active: true } },
      response: { schema: waitingRoomSchema, example: room },
      refusals: { 422: refusedFields },
    },
    "GET /waiting_rooms/:slug": {
      operationId: "getWaitingRoom",
      summary: "Get a waiting room",
      status: 200,
      response: { schema: waitingRoomSchema, example: room },
    },
    "PUT /waiting_rooms/:slug": {
      operationId: "updateWaitingRoom",
      summary: "Update a waiting room",
      description:
        "Fields that are left out keep their values. If the name changes, the slug changes too, and links with the old slug stop working. A name that makes the same slug keeps it.",
      status: 200,
      requestExample: { waiting_room: { name: "Cardiology", is_active: true } },
      response: { schema: waitingRoomSchema, example: room },
      refusals: {
        422: `${refusedFields} A room can keep its present theme, even if that is not in the list any more.`,
      },
    },
    "DELETE /waiting_rooms/:slug": {
      operationId: "retireWaitingRoom",
      summary: "Retire a waiting room",
      description:
        "The room is no longer listed and nobody can enter it. This cannot be undone. No other room gets its slug.",
      status: 204,
      refusals: {
        422: "The room is in use (a participant is in it, or a call is going on), or it is a personal room.",
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
        example: { waiting_room: room, active_sub: null, destination_slug: room.slug },
      },
    },
  },
};
