import type * as z from "zod";
import { pageOf, paginationExample, type Reference } from "../../openapi/operation.ts";
import { resolvedWaitingRoomSchema, waitingRoomSchema } from "./waiting_rooms.schemas.ts";

const room: z.input<typeof waitingRoomSchema> = {
  id: 7,
  organization_id: 1,
  user_id: null,
  name: "Cardiology",
  slug: "riverside-clinic-cardiology",
  theme: "default",
  is_active: true,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
  waiting_count: 2,
  user: { display_name: "Riverside Clinic" },
};

export const waitingRoomsReference: Reference = {
  tag: "Waiting rooms",
  description:
    "Where participants wait for their call. Personal rooms come with their provider: they are listed and can be changed, but neither created nor retired.",
  schemas: {
    WaitingRoom: {
      schema: waitingRoomSchema,
      description: "A room in which participants wait.",
      fields: {
        id: "Identifies the room.",
        organization_id: "The organization that owns the room; null for a personal room.",
        user_id: "The user who owns a personal room; null for an organization's room.",
        name: "What people call the room.",
        slug: "The room's URL, made from its name; changes when the name does.",
        theme: "The theme that is applied to the room.",
        is_active: "Whether participants can enter.",
        created_at: "When the room was made.",
        updated_at: "When the room last changed.",
        waiting_count: "How many participants wait now.",
        user: "The owner: for a personal room its user, else the organization, by name.",
      },
    },
  },
  external: {
    "GET /waiting_rooms": {
      operationId: "listWaitingRooms",
      summary: "List the waiting rooms",
      description: "Organization rooms and personal rooms, by id.",
      status: 200,
      response: {
        schema: pageOf("waiting_rooms", waitingRoomSchema),
        example: { waiting_rooms: [room], pagination: paginationExample },
      },
    },
    "POST /waiting_rooms": {
      operationId: "createWaitingRoom",
      summary: "Create a waiting room",
      description: "The room belongs to the organization, and is inactive unless told otherwise.",
      status: 201,
      requestExample: { waiting_room: { name: "Cardiology", theme: "default", is_active: true } },
      response: { schema: waitingRoomSchema, example: room },
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
      description: "What is left out stays. A new name makes a new slug, and the old one stops resolving.",
      status: 200,
      requestExample: { waiting_room: { name: "Cardiology", is_active: true } },
      response: { schema: waitingRoomSchema, example: room },
    },
    "DELETE /waiting_rooms/:slug": {
      operationId: "retireWaitingRoom",
      summary: "Retire a waiting room",
      description: "The room is listed no longer and cannot be joined; this cannot be undone.",
      status: 204,
      refusals: { 422: "The room is in use, or is a personal room." },
    },
  },
  platform: {
    "GET /waiting_rooms/:slug": {
      operationId: "openWaitingRoom",
      summary: "Open a waiting room",
      description:
        "Tells where a participant who opens the room is to be sent now: the substitute's room while a filled sub is active and that room is, else the room itself.",
      status: 200,
      response: {
        schema: resolvedWaitingRoomSchema,
        example: { waiting_room: room, active_sub: null, destination_slug: room.slug },
      },
    },
  },
};
