import * as z from "zod";
import { consentMethod } from "../calls/consents/consents.schemas.ts";
import { emptyOr, externalReference, key, name } from "../http/wire.ts";
import { UNCLAIMED_KEPT_FOR } from "../lifetimes.ts";
import * as limits from "../limits.ts";
import type { Reference } from "../openapi/operation.ts";
import * as story from "../openapi/story.ts";
import { MAX_EGRESS_FILES } from "../tuning.ts";
import { DAY, grouped } from "../units.ts";

/** Limited only by the body. */
const anyText = () => z.string().max(limits.LIVEKIT_BODY_LIMIT);

/** A 64-bit integer: ProtoJSON allows a string or a number. */
const int64 = (digits: number) =>
  z.union([
    z
      .string()
      .max(digits)
      .regex(/^[0-9]+$/),
    z.int().nonnegative(),
  ]);

/** An enum value by its name or its number. */
const enumeration = () => z.union([anyText(), z.int()]);

/** 11 digits last until the year 5138. */
const unixSeconds = () => int64(11);

const STORAGE_KEY = `The storage key, if it is a valid one: see \`storage_key\` of \`PUT /organizations/{organization_id}/egresses/{egress_id}\`, at most ${grouped(limits.MAX_STORAGE_KEY_LENGTH)} bytes. It must begin with the organization's slug and a slash. Any other name is ignored, as is a file that another recording has or once had.`;

const file = z
  .object({
    filename: anyText().describe(
      `${STORAGE_KEY} If an ended recording has no usable file, there is no download, and the error of the egress says so.`,
    ),
    location: anyText().describe(
      "Where LiveKit put the file. After a failure, a file without a location cannot be downloaded.",
    ),
    startedAt: int64(19).describe("The `started_at` of the egress, in nanoseconds since 1970."),
    duration: int64(19).describe("The `duration` of the egress, in nanoseconds."),
    size: int64(19).describe("The `size` of the egress, in bytes."),
  })
  .partial();

const segments = z
  .object({
    playlistName: anyText().describe(STORAGE_KEY),
    livePlaylistName: anyText().describe(STORAGE_KEY),
  })
  .partial();

const NAME_OF_ROOM =
  "The name of the room. It must begin with the organization's slug and `--`, or the event is ignored. Nothing else is read from it.";

const room = z
  .object({
    sid: key().describe("The key of the call. A room without a `sid` is ignored."),
    name: anyText().describe(NAME_OF_ROOM),
    metadata: anyText().describe(
      "JSON with `waiting_room_slug` (the current or a former slug of a waiting room of the organization) and `organization_user_id` (a number, or a string of its digits): LiveKit's events then create the call by themselves. Metadata is only needed for that. Once a call has the room's `sid` as its key, every event of the room belongs to it, whatever the metadata says. `external_reference` (a string or a number) becomes the reference of the call if it has none. Other keys are ignored.",
    ),
  })
  .partial();

const attributes = z
  .object({
    role: anyText().describe(
      "`provider` or `recipient`. With any other value or none, a new participant is a `recipient`.",
    ),
    user_id: z
      .string()
      .max(limits.MAX_INTEGER_LENGTH)
      .regex(/^[1-9][0-9]*$/)
      .describe("The `user_id` of a user of the organization. Any other value is ignored."),
    external_reference: emptyOr(externalReference()).describe("The person's identifier in another system."),
    recording_consent: anyText().describe(
      "Whether the participant consents to the recording. `true`, in upper or lower case, is consent. Missing or empty means that the participant was not asked. Any other value is a refusal.",
    ),
    recording_consent_at: anyText().describe(
      "When the participant decided, in ISO 8601 with an offset. A time in the future counts as now. Without it, a refusal counts from the time of the event, and a consent counts only as long as no other decision of the participant is known. So after a refusal, only a consent with a later time in this field counts.",
    ),
    recording_consent_method: emptyOr(consentMethod()).describe(
      "How the participant decided, for example `verbal` or `form`.",
    ),
  })
  .partial();

const participant = z
  .object({
    sid: anyText().describe("The key of the participant if the `identity` is not a valid key."),
    identity: key().describe("The key of the participant."),
    name: emptyOr(name()).describe(
      "The display name. If no event has a name, the identity is used. The name, role, user and reference of a participant come from the first event that has them. A planned visit and the platform take precedence over LiveKit.",
    ),
    kind: enumeration().describe(
      "Participants of the kinds `EGRESS`, `INGRESS`, `AGENT` and `BRIDGE` are not people, and are ignored.",
    ),
    permission: z
      .object({
        recorder: z.boolean().describe("Whether the participant is a recorder. Recorders are ignored."),
      })
      .partial()
      .describe("What the participant may do in the room."),
    joinedAt: unixSeconds().describe(
      "When this connection of the participant began, in seconds since 1970. The participant leaves only when their newest connection ends.",
    ),
    joinedAtMs: int64(14).describe("`joinedAt` in milliseconds. If both are present, this field counts."),
    disconnectReason: enumeration().describe(
      "Why the participant left. After `DUPLICATE_IDENTITY` and `MIGRATION`, the person is still on the call through another connection. After `USER_UNAVAILABLE`, `USER_REJECTED`, `SIP_TRUNK_FAILURE` and `JOIN_FAILURE`, the person never came and is removed from the call.",
    ),
    attributes: attributes.describe("The participant's attributes from LiveKit's access token."),
  })
  .partial();

const egressInfo = z
  .object({
    egressId: key().describe("The `egress_id` of the egress. An event without it is ignored."),
    roomId: anyText().describe("The `sid` of the room: the key of the call."),
    roomName: anyText().describe(NAME_OF_ROOM),
    status: enumeration().describe(
      "LiveKit's status: `EGRESS_STARTING`, `EGRESS_ACTIVE`, `EGRESS_ENDING`, or a final status, all of which become `egress_ended`. Without it, the egress is starting.",
    ),
    error: anyText().describe(
      `Why the egress failed. Its first ${grouped(limits.MAX_ERROR_LENGTH)} characters are kept.`,
    ),
    endedAt: int64(19).describe(
      "When the egress ended, in nanoseconds since 1970; 0 until then. Without it, the time of the event counts as the end.",
    ),
    fileResults: z
      .array(file)
      .max(MAX_EGRESS_FILES)
      .describe(
        "The recorded files. The first one can be downloaded. All files are deleted with the egress, no matter which event named them.",
      ),
    segmentResults: z
      .array(segments)
      .max(MAX_EGRESS_FILES)
      .describe(
        "The playlists of recorded segments. The playlists are deleted with the egress; the segments are not, because LiveKit does not name them.",
      ),
    file: file.describe("The recorded file, in the format of older servers."),
    segments: segments.describe("The playlists, in the format of older servers."),
    manifestLocation: anyText().describe(
      "Where LiveKit put the manifest, which is deleted with the egress: a URL or a path that contains its storage key.",
    ),
    backupStorageUsed: z
      .boolean()
      .describe(
        "True if LiveKit put the files into its backup storage. There is no download then, and the error of the egress says where the file is.",
      ),
  })
  .partial();

/** The fields of an event that the service reads. The route accepts any JSON, and only logs fields that it cannot use. */
const eventBody = z
  .object({
    event: anyText().describe(
      "The name of the event. Names that begin with `egress_` report an egress, `participant_joined` and `participant_left` a participant, `participant_connection_aborted` a person who never came, and `room_finished` the end of a call. The call begins when the first person joins and, once the room is closed, ends when the last person left; an empty room is not a call. Other events change nothing.",
    ),
    id: anyText().describe("The id of the event, for the service's log."),
    createdAt: unixSeconds().describe(
      "When the event happened, in seconds since 1970. Without it, the time of arrival counts.",
    ),
    room: room.describe("The room. Not needed for events about egresses."),
    participant: participant.describe("The participant who joined or left."),
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
      external_reference: story.HELD_VISIT_REFERENCE,
    }),
  },
  participant: {
    sid: "PA_Eb3NpejRuoBp",
    identity: story.RITAS_PARTICIPANT.key,
    name: story.RITAS_PARTICIPANT.display_name,
    kind: "STANDARD",
    permission: { recorder: false },
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
  startedAt: "1769851862250000000",
  duration: "837500000000",
  size: String(story.RECORDED_FILE.size),
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
    endedAt: "1769852700000000000",
    fileResults: [recorded],
    manifestLocation: `https://storage.example.com/recordings/riverside-clinic/${story.EGRESS.egress_id}.json`,
  },
};

const folder = `${story.CLINIC.slug}/segments`;

const playlists = { playlistName: `${folder}/index.m3u8`, livePlaylistName: `${folder}/live.m3u8` };

const endedWithPlaylists: Event = {
  ...ended,
  egressInfo: {
    ...ended.egressInfo,
    file: recorded,
    segmentResults: [playlists],
    segments: playlists,
    backupStorageUsed: true,
  },
};

export const liveKitReference: Reference = {
  tag: "LiveKit",
  description: "Events that a LiveKit server reports by itself.",
  livekit: {
    "POST /webhook": {
      operationId: "reportEvent",
      summary: "Report an event",
      description: `Accepts every correctly signed event with 200. The body is ProtoJSON: names in camelCase or snake_case, 64-bit integers as strings or numbers, enums by name or number. A field that cannot be used is ignored and logged by its name. An event that cannot be used changes nothing and is logged with its ids, except that a refusal is never lost. Repeated, late and reordered events result in the same calls, participants and egresses. An egress or a refusal whose call is not known yet waits for the call for ${UNCLAIMED_KEPT_FOR / DAY} days.`,
      status: 200,
      body: {
        schema: eventBody,
        mediaType: "application/webhook+json",
        examples: {
          "A participant has joined": joined,
          "A participant has left": left,
          "A recording has ended": ended,
          "A recording with playlists, in LiveKit's backup storage": endedWithPlaylists,
        },
      },
      response: { schema: z.object({}).describe("Empty: LiveKit only checks the status."), example: {} },
    },
  },
};
