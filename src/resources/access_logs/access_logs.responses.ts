import * as z from "zod";
import { ACCESS_EVENTS, ACCESS_RESOURCES, PURPOSES_OF_USE } from "../../database/enums.ts";
import { SYSTEM_USER_ID } from "../../database/schema.ts";
import { actingUser } from "../../http/acting_user.ts";
import { id, timestamp } from "../../http/wire.ts";
import { MAX_PER_PAGE } from "../../limits.ts";
import * as story from "../../openapi/story.ts";

const CODES = PURPOSES_OF_USE.map((code) => `\`${code}\``).join(", ");

export const accessLogSchema = z
  .object({
    id: id().meta({
      description: "The id of the entry. A later entry has a higher id. There are gaps between ids.",
      example: 5301,
    }),
    at: timestamp().meta({ description: "When it happened.", example: story.DOWNLOADED_AT }),
    event: z.enum(ACCESS_EVENTS).meta({
      description:
        "`read`: somebody was shown it. `create`, `update`, `delete`: somebody made, changed or removed it. A deletion by retention is an entry too.",
      example: "read",
    }),
    // There will be more, and more purposes, so that a client must not fail for one that it does not know.
    resource: z
      .string()
      .max(100)
      .regex(/^[a-z_]+$/)
      .meta({
        description: `What was read or changed: ${ACCESS_RESOURCES.map((name) => `\`${name}\``).join(", ")}. There may be more in the future.`,
        example: "transcript",
      }),
    resource_id: id().nullable().meta({
      description:
        "The id of what was read or changed. For a transcript and a SOAP note it is the id of the call, and null for a list.",
      example: story.CALL.id,
    }),
    call_id: id().nullable().meta({
      description: "The id of the call that it belongs to; null if it belongs to none.",
      example: story.CALL.id,
    }),
    organization_user_id: id().nullable().meta({
      description:
        "The id of the organization user concerned: who held the call, or the member. For an API client it is the one as whom it acts. null if nobody is concerned.",
      example: story.PAULA.id,
    }),
    user_id: id().meta({
      description: `The user as whom the API client acts. For what retention or the platform did, it is the service's own user, System, who has the id ${SYSTEM_USER_ID} and is in no list.`,
      example: story.OLGA.user_id,
    }),
    api_client_id: id().nullable().meta({
      description: "The id of the API client that asked; null if none did.",
      example: 5,
    }),
    acting_user: actingUser().nullable().meta({
      description:
        "For whom the client asked, in its own words: what it sent as `X-Acting-User`. Nothing checks it. null if it said nothing.",
      example: "staff-207",
    }),
    purpose: z
      .string()
      .max(100)
      .regex(/^[A-Z]+$/)
      .nullable()
      .meta({
        description: `Why, by a code of HL7's PurposeOfUse: ${CODES}. There may be more in the future. It is what the client sent as \`X-Purpose-Of-Use\`; null if it said nothing.`,
        example: "TREAT",
      }),
    request_id: z.uuid().nullable().meta({
      description:
        "The `X-Request-Id` of the response. null for what nobody asked for at that moment, such as a deletion by retention.",
      example: "3f0c5b1e-8a34-4c55-9d0e-6b2f7a1c9e48",
    }),
  })
  .meta({ id: "AccessLog", description: "An entry of the access log: who read or changed what, and when." });

export const accessLogsSchema = z.object({
  access_logs: z.array(accessLogSchema).max(MAX_PER_PAGE).describe("The next entries, oldest first."),
  next_after: id()
    .nullable()
    .describe(
      "The `after` of the next request: all entries up to it were looked through. There may be more after it, even if this page is empty. null at the end.",
    ),
});
