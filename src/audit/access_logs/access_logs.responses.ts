import * as z from "zod";
import { ACCESS_EVENTS, ACCESS_RESOURCES, PURPOSES_OF_USE } from "../../database/enums.ts";
import { actingUser } from "../../http/acting_user.ts";
import { day, id, timestamp } from "../../http/wire.ts";
import { MAX_CALL_PARTICIPANTS, MAX_PER_PAGE } from "../../limits.ts";
import { field } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { SYSTEM_USER_ID } from "../../organization/members/organization_users.table.ts";

const CODES = PURPOSES_OF_USE.map((code) => `\`${code}\``).join(", ");

export const accessLogSchema = z
  .object({
    id: field(id(), "The id of the entry. A later entry has a higher id. There are gaps between ids.", 5301),
    at: timestamp().meta({ description: "When it happened.", example: story.DOWNLOADED_AT }),
    event: z.enum(ACCESS_EVENTS).meta({
      description:
        "`read`: the data was shown to someone. `search`: someone searched for it. `create`, `update`, `delete`: someone created, changed or removed it. Deletions by retention are recorded too. `sign_in`: a token was exchanged for a code; repeated exchanges for the same person by the same API client within a minute are one entry. `sign_in_refused`: a correctly signed token was refused because the person has no account here.",
      example: "read",
    }),
    // Not an enum: more resources and purposes will be added, and clients must not fail on an unknown one.
    resource: z
      .string()
      .max(100)
      .regex(/^[a-z_]+$/)
      .meta({
        description: `The type of resource that was read or changed: ${ACCESS_RESOURCES.map((name) => `\`${name}\``).join(", ")}. More may be added.`,
        example: "transcript",
      }),
    resource_id: id().nullable().meta({
      description:
        "The id of the resource that was read or changed. For a transcript or a SOAP note, it is the id of the call; for a list, it is null.",
      example: story.CALL.id,
    }),
    call_id: id().nullable().meta({
      description: "The id of the call that the resource belongs to, or null.",
      example: story.CALL.id,
    }),
    organization_user_id: id().nullable().meta({
      description:
        "The id of the organization user concerned: the member who held the call, or the member that the entry is about. For an API client, it is the user that the client acts as; for a sign-in, the person who signs in. null if nobody is concerned, or if nobody has the email.",
      example: story.PAULA.id,
    }),
    user_id: id().meta({
      description: `The user that the API client acts as. For actions of retention or of the platform, it is System, the service's own user, who has the id ${SYSTEM_USER_ID} and is in no list.`,
      example: story.OLGA.user_id,
    }),
    api_client_id: id().nullable().meta({
      description: "The id of the API client that sent the request; null if none did.",
      example: 5,
    }),
    acting_user: actingUser().nullable().meta({
      description:
        "The person that the client acted for, as it sent them in `X-Acting-User`. The service does not check this. null without the header.",
      example: "staff-207",
    }),
    purpose: z
      .string()
      .max(100)
      .regex(/^[A-Z]+$/)
      .nullable()
      .meta({
        description: `The purpose that the client sent in \`X-Purpose-Of-Use\`, a code of HL7's PurposeOfUse: ${CODES}. More may be added. null without the header.`,
        example: "TREAT",
      }),
    request_id: z.uuid().nullable().meta({
      description:
        "The `X-Request-Id` of the response. null if no request caused the action, such as a deletion by retention.",
      example: "3f0c5b1e-8a34-4c55-9d0e-6b2f7a1c9e48",
    }),
    shown: z
      .array(id())
      .max(MAX_CALL_PARTICIPANTS)
      .nullable()
      .describe(
        "The ids of those whose names the page of a list showed, in its order: visits if `resource` is `visit` or `event` is `search`, else participants. null for other entries.",
      ),
    from: day()
      .nullable()
      .describe("The date from which a list of visits or recordings was requested; null without one."),
    to: day()
      .nullable()
      .describe("The date up to which a list of visits or recordings was requested; null without one."),
  })
  .meta({ id: "AccessLog", description: "An entry of the access log: who read or changed what, and when." });

export const accessLogsSchema = z.object({
  access_logs: z.array(accessLogSchema).max(MAX_PER_PAGE).describe("The next entries, oldest first."),
  next_after: id()
    .nullable()
    .describe(
      "The `after` of the next request: all entries up to it were looked through. More may follow even if this page is empty. null at the end.",
    ),
});
