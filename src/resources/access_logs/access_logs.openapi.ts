import * as z from "zod";
import { SYSTEM_USER_ID } from "../../database/schema.ts";
import { FROM_AFTER_TO } from "../../http/dates.ts";
import { ApiError } from "../../http/errors.ts";
import { MAX_EXPORTED_ACCESS_LOGS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { FOR_ADMINISTRATORS, type Reference, VARY_ACCEPT } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { NDJSON } from "./access_logs.ndjson.ts";
import { accessLogsNotFound } from "./access_logs.refusals.ts";
import { accessLogSchema, accessLogsSchema } from "./access_logs.responses.ts";

const read = exampleOf(accessLogSchema);

const readAgain: typeof read = {
  ...read,
  id: 5317,
  at: "2026-01-31T13:20:08.000Z",
  resource: "soap_note",
  acting_user: "staff-31",
  purpose: "HPAYMT",
  request_id: "c2f4b7d0-1e6a-4b8f-9a35-70d1e4c6b9f2",
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
    "Who read what, about whom, for whom and why; and who changed what. It records reads of transcripts, SOAP notes, recordings, lists of participants and of consents, and of the log itself, searches for a participant, and changes of the organization, its members, API clients, issuers, invites and webhook endpoints, of legal holds and of references; and what was deleted or erased, by somebody or by retention. Each request has one entry, written together with what it records: without the entry nothing is shown, and a request that is refused has none. Who waits in a room is recorded once a minute for a client, acting user, purpose and room. Entries hold only ids, and are never changed. Only an organization_admin can read them.",
  external: {
    "GET /access_logs": {
      operationId: "listAccessLogs",
      summary: "List who read and changed what",
      description: `Oldest first. The filters can be combined. A request looks through at most ${MAX_EXPORTED_ACCESS_LOGS} entries, and fewer with a filter, whatever it shows of them: ask again with \`next_after\` as \`after\`, until it is null. So a page can be empty and not be the last. Each request is recorded too, in an entry that only the requests after it show: with \`per_page=1\` and no filter, the end would never come. If \`Accept\` prefers \`${NDJSON}\` to JSON, the response is one entry a line, up to ${MAX_EXPORTED_ACCESS_LOGS} of them, whatever \`per_page\` says, with \`next_after\` in the header \`X-Next-After\`. Errors are JSON.`,
      parameters: {
        call_id: {
          description:
            "Only entries about this call: the call itself, its texts, recordings, participants, consents and legal holds. A call that does not exist has none.",
          example: story.CALL.id,
        },
        acting_user: {
          description:
            "Only entries of requests for this person: what they sent as `X-Acting-User`, exactly.",
          example: "staff-207",
        },
        user_id: {
          description: "Only entries of API clients that act as this user.",
          example: read.user_id,
        },
        resource: { description: "Only entries about this kind of thing.", example: "transcript" },
        external_reference: {
          description:
            "Only entries about the calls in which a participant with this `external_reference` took part, and about searches for it: what a patient may ask for. It is so also when the names and references were erased.",
          example: story.RITAS_REFERENCE,
        },
        after: {
          description:
            "Only entries with a higher id: the `next_after` of the response before. Without it, the list begins with the oldest entry that is kept.",
          example: 5300,
        },
      },
      headers: {
        ...VARY_ACCEPT,
        "X-Next-After": {
          description: `With \`${NDJSON}\`: the \`after\` of the next request. It is absent at the end, and where the response is JSON.`,
          example: readAgain.id,
          schema: z.int().min(1),
        },
      },
      alternatives: {
        [NDJSON]: {
          schema: z
            .string()
            .max(MAX_EXPORTED_ACCESS_LOGS * 1000)
            .regex(/^(\{.*\}\n)*$/)
            .describe("An entry on each line, as in a page."),
          example: [read, readAgain].map((entry) => `${JSON.stringify(entry)}\n`).join(""),
        },
      },
      response: {
        schema: accessLogsSchema,
        examples: {
          "Everything about a call": { access_logs: [read, readAgain, deleted], next_after: null },
          "A page, and where to go on": { access_logs: [read], next_after: read.id },
          "None of the entries that were looked through": { access_logs: [], next_after: 14_870 },
          "Nothing more": { access_logs: [], next_after: null },
        },
      },
      refusals: FOR_ADMINISTRATORS,
      errors: [new ApiError(400, `from: ${FROM_AFTER_TO}`), accessLogsNotFound()],
    },
  },
};
