import type { Mutation } from "../simulator/isolate.ts";

/** Faults that the model must find. Each is a change of one place in the source. */
export const MUTATIONS: Mutation[] = [
  {
    name: "a page has one item more than the limit",
    file: "src/limits.ts",
    from: "export const MAX_PER_PAGE = 100;",
    to: "export const MAX_PER_PAGE = 101;",
  },
  {
    name: "two subs that touch count as overlapping",
    file: "src/rooms/waiting_room_subs/waiting_room_subs.merge.ts",
    from: "sub.datetime_end > nextSub.datetime_start",
    to: "sub.datetime_end >= nextSub.datetime_start",
  },
  {
    name: "a room is found without its organization",
    file: "src/rooms/waiting_rooms/waiting_rooms.sql.ts",
    from: "and(eq(waitingRooms.organization_id, organization_id), hasSlug(slug))",
    to: "hasSlug(slug)",
  },
  {
    name: "a created room is answered with 200",
    file: "src/rooms/waiting_rooms/waiting_rooms.routes.ts",
    from: "return c.json(schemas.toWaitingRoom(room), 201);",
    to: "return c.json(schemas.toWaitingRoom(room), 200);",
  },
  {
    name: "every role reaches the calls of everybody",
    file: "src/organization/members/members.sql.ts",
    from: 'reaches_everybody: roles.includes("organization_admin")',
    to: "reaches_everybody: roles.length > 0",
  },
  {
    name: "the reference of a visit is lost",
    file: "src/rooms/visits/visits.schemas.ts",
    from: "external_reference: row.external_reference,",
    to: "external_reference: null,",
  },
  {
    name: "the organization can end a hold of the platform",
    file: "src/calls/legal_holds/legal_holds.service.ts",
    from: 'if (hold_begun_by === "platform" && by !== "platform") throw holdOfPlatform();',
    to: "",
  },
  {
    name: "a dated refusal is not a decision",
    file: "src/calls/consents/consents.merge.ts",
    from: "if (recording_consent === undefined) return undefined;",
    to: "if (recording_consent === undefined || (!recording_consent && at !== undefined)) return undefined;",
  },
];
