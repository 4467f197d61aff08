import * as z from "zod";
import { MAX_EXPORTED_ACCESS_LOGS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { type Reference, VARY_ACCEPT } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { SYSTEM_USER_ID } from "../../organization/members/organization_users.table.ts";
import { grouped } from "../../units.ts";
import { accessLogSchema, accessLogsSchema } from "./access_logs.responses.ts";
import { NDJSON } from "./access_logs.schemas.ts";

const read = exampleOf(accessLogSchema);

const listed: typeof read = {
  ...read,
  id: 5290,
  at: "2026-01-31T08:02:51.000Z",
  resource: "visit",
  resource_id: null,
  call_id: null,
  organization_user_id: null,
  request_id: "a91c3e52-6d0f-4b17-8e2a-5c7f9b1d3e60",
  shown: [story.HELD_VISIT.id],
  from: "2026-01-31",
  to: "2026-01-31",
};

const deleted: typeof read = {
  ...read,
  id: 90_112,
  at: story.RECORDING_DELETED_AT,
  event: "delete",
  resource: "egress",
  resource_id: story.EGRESS.id,
  organization_user_id: story.PAULA.id,
  user_id: SYSTEM_USER_ID,
  api_client_id: null,
  acting_user: null,
  purpose: null,
  request_id: null,
};

export const accessLogsReference: Reference = {
  tag: "Access log",
  description:
    "The access log shows who read or changed what, about whom, for whom and why. It records reads of transcripts, SOAP notes, recordings, planned visits, lists of participants and consents, and the log itself; searches for a participant; changes to the organization, its members, API clients, issuers, invites, webhook endpoints, legal holds and references; and everything that was deleted or erased, by a person or by retention. Each request has one entry, or one for each resource that it deletes, written together with what it records: without the entry, nothing is shown, and a refused request has none. Reads of a waiting list are recorded once a minute per client, acting user, purpose and room, and again within the minute if the list shows a new person. Entries contain only ids, and are never changed. Only an organization_admin can read them.",
  external: {
    "GET /access_logs": {
      operationId: "listAccessLogs",
      summary: "List the entries of the access log",
      description: `Oldest first. You can combine filters. Each request scans up to ${grouped(MAX_EXPORTED_ACCESS_LOGS)} entries (fewer with a filter) and returns the matches. Repeat it with \`next_after\` as \`after\` until \`next_after\` is null. A page can therefore be empty without being the last one. The request itself is recorded too, in an entry that only later requests show: with \`per_page=1\` and no filter, you would never reach the end. If \`Accept\` prefers \`${NDJSON}\` to JSON, the response has one entry per line, up to ${grouped(MAX_EXPORTED_ACCESS_LOGS)} regardless of \`per_page\`, and the header \`X-Next-After\` has \`next_after\`. Errors are always JSON.`,
      parameters: {
        call_id: {
          description:
            "Only entries about this call: the call itself, its texts, recordings, participants, consents and legal holds. A call that does not exist has no entries.",
          example: story.CALL.id,
        },
        acting_user: {
          description:
            "Only entries of requests made for this person. Must equal their `X-Acting-User` exactly.",
          example: "staff-207",
        },
        user_id: { description: "Only entries of API clients that act as this user.", example: read.user_id },
        resource: { description: "Only entries about this type of resource.", example: "transcript" },
        external_reference: {
          description:
            "Only entries about calls in which a participant with this `external_reference` took part, about visits planned for the person, about lists that showed these visits or the waiting person, and about searches for the reference and its erasure: the answer to a patient's request. It works even after the names and references were erased.",
          example: story.RITAS_REFERENCE,
        },
        after: {
          description:
            "Only entries with a higher id: the `next_after` of the previous response. Without it, the list begins with the oldest entry still kept.",
          example: 5300,
        },
      },
      headers: {
        ...VARY_ACCEPT,
        "X-Next-After": {
          description: `With \`${NDJSON}\`: the \`after\` of the next request. Absent at the end of the list, and if the response is JSON.`,
          example: read.id,
          schema: z.int().min(1),
        },
      },
      alternatives: {
        [NDJSON]: {
          schema: z
            .string()
            .max(MAX_EXPORTED_ACCESS_LOGS * 10_000)
            .regex(/^(\{.*\}\n)*$/)
            .describe("One entry per line, as pages show it."),
          example: [read, deleted].map((entry) => `${JSON.stringify(entry)}\n`).join(""),
        },
      },
      response: {
        schema: accessLogsSchema,
        example: { access_logs: [listed, read, deleted], next_after: null },
      },
    },
  },
};
