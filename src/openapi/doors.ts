import {
  BULK_INVITES_BODY_LIMIT,
  CLIENT_KNOWN_FOR,
  DEFAULT_PER_PAGE,
  EXTERNAL_BODY_LIMIT,
  HOUR,
  IDEMPOTENCY_KEY_KEPT_FOR,
  LIVEKIT_BODY_LIMIT,
  LIVEKIT_CLOCK_TOLERANCE,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_JSON_CONTAINERS,
  MAX_PER_PAGE,
  PLATFORM_BODY_LIMIT,
  TOKEN_EXCHANGE_BODY_LIMIT,
} from "../limits.ts";

const KIB = 1024;

const EXTERNAL_INTRODUCTION = `
With this API, an organization manages its waiting rooms, substitutions and invites, and reads the results of its video calls.

## Credentials

Send \`X-Client-ID\` and \`X-Client-Secret\` with every request. The operator of the service creates the credentials and shows the secret once. An organization can have several API clients. To rotate credentials, ask for a new client, change over to it, and have the old one revoked. A revoked client is refused within ${CLIENT_KNOWN_FOR / 1000} seconds.

An API client belongs to one organization and acts as one of its users. It sees and changes only data of this organization. Its permission level is the highest role of this user. The roles are, lowest first: \`provider_assistant\`, \`provider\`, \`organization_admin\`.

Calls and their results belong to the organization user who held the call. An organization_admin can read those of every organization user. A provider can read its own. A provider_assistant can read its own and those of the providers it assists. Everything else is 404.

## Requests

Bodies are JSON, with \`Content-Type: application/json\`. Unknown keys in a body are ignored. \`null\` for an optional field is refused, except where the reference says what it means. Timestamps are ISO 8601 with a time zone, such as \`2026-01-31T09:30:00Z\`.

## Responses

Timestamps are ISO 8601 in UTC with milliseconds, such as \`2026-01-31T09:30:00.000Z\`. Responses may get new fields in the future; existing fields stay as they are.

Paged lists take \`page\` and \`per_page\` (${DEFAULT_PER_PAGE} by default, at most ${MAX_PER_PAGE}) and return a \`pagination\` object.

Every response has an \`X-Request-Id\`. Please include it when you report a problem.

## Errors

The body of an error is \`{"error": "..."}\`. The text says what is wrong and what would be right. A refused request changes nothing.

| Status | Reason |
| --- | --- |
| 400 | The body is not JSON, or a query parameter is not valid. |
| 401 | The credentials are missing or wrong. |
| 404 | Something in the path does not exist, or belongs to another organization. Both look the same. |
| 409 | A request with an \`Idempotency-Key\` was carried out before, and its response, which has a secret, cannot be returned again. |
| 413 | The body is larger than ${EXTERNAL_BODY_LIMIT / KIB} KiB (token exchange: ${TOKEN_EXCHANGE_BODY_LIMIT / KIB} KiB, bulk invites: ${BULK_INVITES_BODY_LIMIT / KIB / KIB} MiB). |
| 415 | The \`Content-Type\` is not JSON. |
| 422 | The body does not match its schema, or the state of something does not allow the request. |
| 429 | Too many requests: see below. |

## Repeating a request

A request that makes something can be sent again safely if it has an \`Idempotency-Key\`: a text of 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} characters that your client makes for it, for example a UUID. It is taken by \`POST\` of waiting rooms, substitutions, invites, bulk invites and webhook endpoints; elsewhere it is ignored, because those requests can be repeated anyway.

- The same request with the same key is carried out once. Every further one gets the first response again, with \`Idempotent-Replayed: true\`.
- Another request with the same key (another path, or another byte of the body) is refused with 422.
- A refused request does not use up its key.
- A response that has a secret is not kept: the request for it is refused with 409 when it comes again.
- Keys belong to an API client, and are kept for ${IDEMPOTENCY_KEY_KEPT_FOR / HOUR} hours.

## Limits

\`RateLimit-Policy\` in every response says how many requests of an API client are served: \`"client";q=1200;w=60\` is 1,200 in 60 seconds. Beyond that, the response is 429, with \`RateLimit\` and \`Retry-After\`: wait for this number of seconds, then go on. Requests with missing or wrong credentials are limited for each address; that does not affect requests with the right ones.

## Reading your own writes

Transcripts, SOAP notes, call metrics and events are read from the nearest copy of the database, so they may be a moment old. Where that copy has nothing, the primary database is asked before the response is 404. Everything else is read from the primary database. Every response has an \`X-D1-Bookmark\`. A GET that sends this header back sees at least the same state of the database, whichever copy it reads from.
`;

const PLATFORM_INTRODUCTION = `
With this API, the operator of the service sets up organizations, and the video platform reports what happens in waiting rooms and calls.

## Lists

Paged lists take \`page\` and \`per_page\` (${DEFAULT_PER_PAGE} by default, at most ${MAX_PER_PAGE}) and return a \`pagination\` object.

## Reports

Every report is a PUT with a key that the reporter chooses:

- Repeating a report changes nothing.
- A field that is left out keeps the value that was reported before. \`null\` clears a value.
- A late report does not move a state backwards: an ended call stays ended.

Keys of calls and egress ids are unique in the service; keys of participants are unique in the organization.

## Errors

The body of an error is \`{"error": "..."}\`. The text says what is wrong and what would be right. If something in the path does not exist, the status is 404. If something in the body does not exist, it is 422. The body of a request can have up to ${PLATFORM_BODY_LIMIT / KIB / KIB} MiB, and up to ${MAX_JSON_CONTAINERS} objects and lists. A refused request changes nothing.

## Timestamps

Requests take ISO 8601 with any time zone offset. Responses have ISO 8601 in UTC with milliseconds.
`;

const LIVEKIT_INTRODUCTION = `
To this API, a LiveKit server sends its webhooks. So calls, participants and recordings are reported without any code. It is for LiveKit's own server: there is nothing else to call.

## Configuration

Enter the address of the webhook in LiveKit's configuration, with an API key of LiveKit's:

\`\`\`yaml
webhook:
  api_key: <the key that the service has as LIVEKIT_API_KEY>
  urls:
    - https://<this server>/api/livekit/webhook
\`\`\`

## Signature

LiveKit signs each event with a JSON Web Token in the header \`Authorization\` (HS256). Its \`iss\` is the API key, its \`sha256\` the SHA-256 digest of the body in base64, and its \`exp\` is required. Clocks may differ by ${LIVEKIT_CLOCK_TOLERANCE / 1000} seconds.

## Rooms

A room reports its call by itself, if its metadata is JSON with \`waiting_room_slug\` and \`organization_user_id\` (the organization user who holds the call). The key of the call is the \`sid\` of the room, and the key of a participant is its identity. Somebody who waited under the same key is the same participant. The attributes of a participant give \`role\`, \`user_id\` and \`recording_consent\`.

The call of any other room is reported through the platform API, with the \`sid\` or the name of the room as its key. Of such a room, only egress events count.

## Errors

An event is refused only if it is not correctly signed, not JSON or too large. The body of an error is \`{"error": "..."}\`. An event can have up to ${LIVEKIT_BODY_LIMIT / KIB} KiB. After 5xx, LiveKit sends the event again.
`;

const tooManyFailures =
  "Too many requests with missing or wrong credentials have come from this address: at most 60 a minute are served; try again in 60 seconds";

const FAILURES =
  "The credentials are missing or wrong, and too many such requests have come from this address. Requests with the right ones are served.";

/** What the reference says about each door as a whole. */
export const DOORS = {
  external: {
    title: "Organization Video Visit Service: external API",
    description: EXTERNAL_INTRODUCTION.trim(),
    security: { clientId: [] as string[], clientSecret: [] as string[] },
    securitySchemes: {
      clientId: {
        type: "apiKey",
        in: "header",
        name: "X-Client-ID",
        description: "The id of the API client.",
      },
      clientSecret: {
        type: "apiKey",
        in: "header",
        name: "X-Client-Secret",
        description: "The secret of the API client. It was shown once, when the client was created.",
      },
    },
    unauthorized: "The client credentials are missing or wrong.",
    unauthorizedError: "Invalid client credentials",
    tooMany:
      "The API client has sent too many requests; or too many with missing or wrong credentials have come from this address.",
    tooManyErrors: [
      "This API client has sent too many requests: at most 1200 a minute are served; try again in 60 seconds",
      tooManyFailures,
    ],
  },
  platform: {
    title: "Organization Video Visit Service: platform API",
    description: PLATFORM_INTRODUCTION.trim(),
    security: { platformToken: [] as string[] },
    securitySchemes: {
      platformToken: { type: "http", scheme: "bearer", description: "The operator's `PLATFORM_API_TOKEN`." },
    },
    unauthorized: "The platform token is missing or wrong.",
    unauthorizedError: "Invalid platform token",
    tooMany: FAILURES,
    tooManyErrors: [tooManyFailures],
  },
  livekit: {
    title: "Organization Video Visit Service: LiveKit webhook",
    description: LIVEKIT_INTRODUCTION.trim(),
    security: { liveKitSignature: [] as string[] },
    securitySchemes: {
      liveKitSignature: {
        type: "apiKey",
        in: "header",
        name: "Authorization",
        description: "A JSON Web Token that names the digest of the body. LiveKit makes one for each event.",
      },
    },
    unauthorized: "The event is not correctly signed.",
    unauthorizedError: "Invalid LiveKit signature",
    tooMany: FAILURES,
    tooManyErrors: [tooManyFailures],
  },
} as const;

export type Door = keyof typeof DOORS;

export const DOOR_NAMES = Object.keys(DOORS) as Door[];
