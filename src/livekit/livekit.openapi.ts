import * as z from "zod";
import { emptyOr, externalReference, key, name } from "../http/wire.ts";
import { LIVEKIT_EGRESS_KEPT_FOR, LIVEKIT_ROOM_TOLERANCE } from "../lifetimes.ts";
import {
  LIVEKIT_BODY_LIMIT,
  MAX_ERROR_LENGTH,
  MAX_INTEGER_LENGTH,
  MAX_STORAGE_KEY_LENGTH,
} from "../limits.ts";
import type { Reference } from "../openapi/operation.ts";
import * as story from "../openapi/story.ts";
import { consentMethod } from "../resources/consents/consents.fields.ts";
import { MAX_EGRESS_FILES } from "../tuning.ts";
import { HOUR, MINUTE } from "../units.ts";

/** Of any length that a body may have. */
const anyText = () => z.string().max(LIVEKIT_BODY_LIMIT);

/** A 64-bit integer: protojson writes it as a text. */
const int64 = (digits: number) =>
  z
    .string()
    .max(digits)
    .regex(/^[0-9]+$/);

/** Until the year 5138. */
const unixSeconds = () => int64(11);

const file = z
  .object({
    filename: anyText().describe(
      `The storage key, if it can be one: see \`storage_key\` of \`PUT /organizations/{organization_id}/egresses/{egress_id}\`, with at most ${MAX_STORAGE_KEY_LENGTH} bytes. It begins with the organization's slug and a slash. Otherwise there is no download, and the error of the egress says so. A file that another recording has, or ever had, is left out.`,
    ),
    location: anyText().describe(
      "Where LiveKit has put the file. After a failure, a file without it counts as not there.",
    ),
  })
  .partial();

const NAME_OF_ROOM = `The name of the room. It begins with the organization's slug and \`--\`, or the event is not used. If no call has the \`sid\` as its key, the name is the key of the call. That call must have been going on when the room was made, or the egress began; because clocks differ, it may also have started up to ${LIVEKIT_ROOM_TOLERANCE / MINUTE} minutes later. Where the end of that call is reported later, participants whom only the name brought to it after that end are not shown on it, and a recording that had ended before they came does not need their consent.`;

const room = z
  .object({
    sid: key().describe("The key of the call. A room without it is not used."),
    name: anyText().describe(NAME_OF_ROOM),
    metadata: anyText().describe(
      "JSON with `waiting_room_slug` and `organization_user_id` (a number), both of the organization that the name names, if LiveKit is to report the call. Without these two, only egresses of the room are reported. `external_reference` is that of the call; one that cannot be a reference is left out, and it counts where it differs from what LiveKit said last. Other keys are ignored.",
    ),
    creationTime: unixSeconds().describe(
      "When the call started, in seconds since 1970. Without it, that is the time of the earliest event.",
    ),
  })
  .partial();

const attributes = z
  .object({
    role: anyText().describe(
      "`provider` or `recipient`. With anything else, a new participant is a `recipient`.",
    ),
    user_id: z
      .string()
      .max(MAX_INTEGER_LENGTH)
      .regex(/^[1-9][0-9]*$/)
      .describe("The `user_id` of a user of the organization. Any other is ignored."),
    external_reference: emptyOr(externalReference()).describe(
      "The text by which another system knows the person. One that cannot be a reference is left out, and it counts where it differs from what LiveKit said last.",
    ),
    recording_consent: z
      .enum(["true", "false"])
      .describe(
        "Whether the participant consents to a recording. Without it, the participant was not asked. It is a decision where it differs from what LiveKit said last.",
      ),
    recording_consent_at: anyText().describe(
      "When the participant decided that, in ISO 8601 with an offset. A time in the future counts as now. Without it, a refusal counts from when the event comes, and a consent from when the participant joined: so consent that was withdrawn comes back only with a later time here.",
    ),
    recording_consent_method: emptyOr(consentMethod()).describe(
      "How the participant said so, for example `verbal` or `form`.",
    ),
  })
  .partial();

const participant = z
  .object({
    sid: anyText().describe("The key of the participant, if the `identity` cannot be one."),
    identity: key().describe("The key of the participant."),
    name: emptyOr(name()).describe("The display name. If it is empty, the identity is the name."),
    kind: anyText().describe("Participants of the kinds `EGRESS`, `INGRESS` and `AGENT` are ignored."),
    joinedAt: unixSeconds().describe("When the participant joined, in seconds since 1970."),
    joinedAtMs: int64(14).describe("The same in milliseconds. If both are there, this one counts."),
    disconnectReason: anyText().describe(
      "Why the participant left. After `DUPLICATE_IDENTITY` and `MIGRATION` the person is still there, by another connection.",
    ),
    attributes: attributes.describe("What LiveKit's access token says of the participant."),
  })
  .partial();

const egressInfo = z
  .object({
    egressId: key().describe("The `egress_id` of the egress. An event without it is not used."),
    roomId: anyText().describe("The `sid` of the room: the key of the call."),
    roomName: anyText().describe(NAME_OF_ROOM),
    status: anyText().describe(
      "LiveKit's status: `EGRESS_STARTING`, `EGRESS_ACTIVE`, `EGRESS_ENDING`, or one of the final ones, which all become `egress_ended`. Without it, the egress is starting.",
    ),
    error: anyText().describe(`Why the egress failed. Its first ${MAX_ERROR_LENGTH} characters are kept.`),
    startedAt: int64(19).describe(
      "When the egress began, in nanoseconds since 1970; 0 until then. Without it, that is when the event happened.",
    ),
    endedAt: int64(19).describe("When the egress ended, in nanoseconds since 1970; 0 until then."),
    fileResults: z
      .array(file)
      .max(MAX_EGRESS_FILES)
      .describe("The recorded files. The first that is there is the file of the egress."),
    file: file.describe("The recorded file, as older servers write it."),
  })
  .partial();

/** What the service reads of an event. The route itself takes any JSON: what it cannot use, it only logs. */
const eventBody = z
  .object({
    event: anyText().describe(
      "The name of the event. Those that begin with `egress_` report an egress, `participant_joined` and `participant_left` a participant, and `room_finished` the end of a call. The first event of a room whose metadata says whose visit it is makes the call, whatever its name.",
    ),
    id: anyText().describe("The id of the event. It stands in the service's log."),
    createdAt: unixSeconds().describe(
      "When it happened, in seconds since 1970. Without it, that is when it came.",
    ),
    room: room.describe("The room. Events of egresses do not need it."),
    participant: participant.describe("Who joined or left."),
    egressInfo: egressInfo.describe("The egress."),
  })
  .partial();

type Event = z.input<typeof eventBody>;

const joined: Event = {
  event: "participant_joined",
  id: "EV_8oTjKXHjCqyD",
  createdAt: "1769851800",
  room: {
    ...story.LIVEKIT_ROOM,
    metadata: JSON.stringify({
      waiting_room_slug: story.CARDIOLOGY.slug,
      organization_user_id: story.PAULA.id,
      external_reference: story.VISIT_REFERENCE,
    }),
    creationTime: "1769851800",
  },
  participant: {
    sid: "PA_Eb3NpejRuoBp",
    identity: story.RITAS_PARTICIPANT.key,
    name: story.RITAS_PARTICIPANT.display_name,
    kind: "STANDARD",
    joinedAt: "1769851800",
    joinedAtMs: "1769851800412",
    attributes: {
      role: "recipient",
      external_reference: story.RITAS_REFERENCE,
      recording_consent: "true",
      recording_consent_at: "2026-01-31T09:29:00Z",
      recording_consent_method: "form",
    },
  },
};

const left: Event = {
  event: "participant_left",
  id: "EV_3kWzQ7nYpLdS",
  createdAt: "1769852700",
  room: joined.room,
  participant: {
    sid: "PA_t4VbYq8sKmGd",
    identity: story.PAULAS_PARTICIPANT.key,
    name: story.PAULA.display_name,
    joinedAt: "1769851800",
    disconnectReason: "CLIENT_INITIATED",
    attributes: { role: "provider", user_id: String(story.PAULA.user_id), recording_consent: "true" },
  },
};

const recorded = {
  filename: story.STORAGE_KEY,
  location: `https://storage.example.com/recordings/${story.STORAGE_KEY}`,
};

const ended: Event = {
  event: "egress_ended",
  id: "EV_Xy7TgPp2fQmA",
  createdAt: "1769852700",
  egressInfo: {
    egressId: story.EGRESS.egress_id,
    roomId: story.LIVEKIT_ROOM.sid,
    roomName: story.LIVEKIT_ROOM.name,
    status: "EGRESS_COMPLETE",
    error: "",
    startedAt: "1769851860000000000",
    endedAt: "1769852700000000000",
    fileResults: [recorded],
  },
};

const endedOnOlderServer: Event = {
  ...ended,
  egressInfo: {
    egressId: story.EGRESS.egress_id,
    roomName: story.LIVEKIT_ROOM.name,
    status: "EGRESS_COMPLETE",
    endedAt: "1769852700000000000",
    file: recorded,
  },
};

export const liveKitReference: Reference = {
  tag: "LiveKit",
  description: "What a LiveKit server reports by itself.",
  livekit: {
    "POST /webhook": {
      operationId: "reportEvent",
      summary: "Report an event",
      description: `Takes every event that is correctly signed, and answers 200. A field that makes no sense counts as left out. An event that cannot be used changes nothing and is logged with its ids. Repeated, late and reordered events lead to the same calls, participants and egresses. An egress event whose call is not known yet waits for the call for ${LIVEKIT_EGRESS_KEPT_FOR / HOUR} hours.`,
      status: 200,
      body: {
        schema: eventBody,
        mediaType: "application/webhook+json",
        examples: {
          "Somebody has joined": joined,
          "Somebody has left": left,
          "A recording has ended": ended,
          "The same, as an older server writes it": endedOnOlderServer,
        },
      },
      response: { schema: z.object({}).describe("Nothing: LiveKit only looks at the status."), example: {} },
    },
  },
};
