import * as z from "zod";
import { MAX_EGRESS_FILES, MAX_KEY_LENGTH, MAX_NAME_LENGTH } from "../limits.ts";
import { busy, type Reference } from "../openapi/operation.ts";

const text = z.string().max(MAX_NAME_LENGTH);
const metadata = z.string().max(64 * 1024);

/** A 64-bit integer: protojson writes it as a text. */
const integer = z.string().max(20);

const file = z.object({ filename: z.string().max(1024), location: z.string().max(4000) }).partial();

/** What the service reads of an event. The route itself takes any JSON: what it cannot use, it only logs. */
const eventBody = z
  .object({
    event: text.meta({
      description:
        "The name of the event. `egress_started`, `egress_updated` and `egress_ended` report an egress, `participant_joined` and `participant_left` a participant, and `room_finished` the end of a call. The first event of a room whose metadata says whose visit it is makes the call, whatever its name.",
    }),
    id: text.meta({ description: "The id of the event. It stands in the service's log." }),
    createdAt: integer.meta({ description: "When it happened, in seconds since the epoch." }),
    room: z
      .object({
        sid: z.string().max(MAX_KEY_LENGTH).meta({ description: "The key of the call." }),
        name: text.meta({ description: "The key of the call, if no call has the sid as its key." }),
        metadata: metadata.meta({
          description:
            "JSON with `waiting_room_slug` and `organization_user_id`, if LiveKit reports the call.",
        }),
        creationTime: integer.meta({ description: "When the call started, in seconds since the epoch." }),
      })
      .partial(),
    participant: z
      .object({
        sid: text,
        identity: text.meta({ description: "The key of the participant." }),
        name: text.meta({ description: "The display name. If it is empty, the identity is the name." }),
        kind: text.meta({ description: "`EGRESS`, `INGRESS` and `AGENT` are ignored." }),
        joinedAt: integer.meta({ description: "When the participant joined, in seconds since the epoch." }),
        joinedAtMs: integer.meta({ description: "The same in milliseconds. It comes first." }),
        disconnectReason: text.meta({
          description:
            "After `DUPLICATE_IDENTITY` and `MIGRATION` the participant is still there, by another connection.",
        }),
        attributes: z
          .object({
            role: text.meta({ description: "`provider`; anything else is a `recipient`." }),
            user_id: text.meta({ description: "The id of a user of the organization." }),
            recording_consent: text.meta({
              description: "`true` or `false`. Without it, the participant was not asked.",
            }),
          })
          .partial(),
      })
      .partial(),
    egressInfo: z
      .object({
        egressId: z.string().max(MAX_KEY_LENGTH).meta({ description: "The `egress_id` of the egress." }),
        roomId: text.meta({ description: "The sid of the room." }),
        roomName: text.meta({ description: "The name of the room." }),
        status: text.meta({ description: "LiveKit's status. Every final one becomes `egress_ended`." }),
        error: z
          .string()
          .max(64 * 1024)
          .meta({ description: "The error of the egress." }),
        endedAt: integer.meta({ description: "When the egress ended, in nanoseconds since the epoch." }),
        fileResults: z
          .array(file)
          .max(MAX_EGRESS_FILES)
          .meta({ description: "The recorded file. Its `filename` is the storage key." }),
        file: file.meta({ description: "The same, as older servers write it." }),
      })
      .partial(),
  })
  .partial();

const event: z.input<typeof eventBody> = {
  event: "participant_joined",
  id: "EV_8oTjKXHjCqyD",
  createdAt: "1769851800",
  room: {
    sid: "RM_7A62FjVFwWw5",
    name: "visit-4f21",
    metadata: '{"waiting_room_slug":"riverside--cardiology","organization_user_id":11}',
    creationTime: "1769851790",
  },
  participant: {
    sid: "PA_Eb3NpejRuoBp",
    identity: "participant-8c1f",
    name: "Rita Recipient",
    joinedAt: "1769851800",
    attributes: { role: "recipient", recording_consent: "true" },
  },
};

export const liveKitReference: Reference = {
  tag: "LiveKit",
  description: "What a LiveKit server reports by itself.",
  livekit: {
    "POST /webhook": {
      operationId: "reportEvent",
      summary: "Report an event",
      description:
        "Takes every event that is correctly signed, and answers 200. An event that cannot be used changes nothing and is logged with its ids. Repeated, late and reordered events lead to the same calls, participants and egresses. An egress event whose call is not known yet waits for the call for a day.",
      status: 200,
      body: { schema: eventBody, mediaType: "application/webhook+json", example: event },
      response: {
        schema: z.object({}).meta({ description: "Nothing: LiveKit only looks at the status." }),
        example: {},
      },
      refusals: { 503: busy },
    },
  },
};
