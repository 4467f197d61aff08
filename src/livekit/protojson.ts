import * as z from "zod";
import { key, upToFirstFault } from "../http/wire.ts";
import { lazily } from "../memory.ts";
import { MAX_EGRESS_FILES } from "../tuning.ts";

/*
 * LiveKit's messages, parsed as ProtoJSON: names in camelCase or snake_case, int64 as text or number, enums by name or
 * number, default values omitted, unknown fields ignored. LiveKit's own parser refuses a whole message for one wrong
 * field. This one only leaves that field out, because a refusal of consent in the same message must not get lost.
 */

/** Also accepts the field names of the .proto file. Applies to this level only: `attributes` is not a message. */
const message = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).map(([name, field]) => [toCamelCase(name), field]))
        : value,
    z.object(shape),
  );

const toCamelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Keeps the elements that can be parsed. */
const list = <Element extends z.ZodType>(element: Element, max: number) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((values) =>
      values.slice(0, max).flatMap((value) => {
        const { success, data } = element.safeParse(value);
        return success ? [data as z.output<Element>] : [];
      }),
    );

const textOrEmpty = () => z.string().catch("");

const flagOrFalse = () => z.boolean().catch(false);

/** 0 if the value is not a positive integer. */
const positiveInt64 = () =>
  z
    .union([z.string().regex(/^\d+$/), z.number()])
    .catch(0)
    .transform(Number)
    .transform((value) => (Number.isInteger(value) && value > 0 && value < 2 ** 63 ? value : 0));

/** Milliseconds. 0 means unknown, and a time in the future counts as now. */
const time = (milliseconds: number) =>
  positiveInt64().transform((value) => Math.min(Math.round(value * milliseconds), Date.now()));

const fromSeconds = () => time(1000);
const fromMilliseconds = () => time(1);
const fromNanoseconds = () => time(1e-6);

/** Unknown values become `unknown`, because LiveKit may add values. */
const nameAmong = (names: Record<number, string>) =>
  z
    .union([z.string(), z.number()])
    .nullish()
    .catch("unknown")
    .transform((value) => (typeof value === "string" ? value : (names[value ?? 0] ?? "unknown")));

const PARTICIPANT_KINDS = {
  0: "STANDARD",
  1: "INGRESS",
  2: "EGRESS",
  3: "SIP",
  4: "AGENT",
  7: "CONNECTOR",
  8: "BRIDGE",
};

/** Only the reasons that the service uses. */
const DISCONNECT_REASONS = {
  0: "UNKNOWN_REASON",
  2: "DUPLICATE_IDENTITY",
  7: "JOIN_FAILURE",
  8: "MIGRATION",
  11: "USER_UNAVAILABLE",
  12: "USER_REJECTED",
  13: "SIP_TRUNK_FAILURE",
};

const EGRESS_STATUSES = {
  0: "EGRESS_STARTING",
  1: "EGRESS_ACTIVE",
  2: "EGRESS_ENDING",
  3: "EGRESS_COMPLETE",
  4: "EGRESS_FAILED",
  5: "EGRESS_ABORTED",
  6: "EGRESS_LIMIT_REACHED",
};

const room = () =>
  message({
    sid: key(),
    name: textOrEmpty(),
    metadata: textOrEmpty(),
    creationTime: fromSeconds(),
    creationTimeMs: fromMilliseconds(),
  });

/** Attributes should be strings. Any other value is read as its JSON, so that `false` refuses just as `"false"` does. */
const attribute = () =>
  z
    .unknown()
    .optional()
    .transform((value) =>
      typeof value === "string" ? value : JSON.stringify(value ?? "").replace(/^""$/, ""),
    );

const attributes = () =>
  z.object({
    role: attribute(),
    user_id: attribute(),
    external_reference: attribute(),
    recording_consent: attribute(),
    recording_consent_at: attribute(),
    recording_consent_method: attribute(),
  });

const participant = () =>
  message({
    sid: textOrEmpty(),
    identity: textOrEmpty(),
    name: textOrEmpty(),
    kind: nameAmong(PARTICIPANT_KINDS),
    joinedAt: fromSeconds(),
    joinedAtMs: fromMilliseconds(),
    disconnectReason: nameAmong(DISCONNECT_REASONS),
    permission: message({ recorder: flagOrFalse() }).catch({ recorder: false }),
    attributes: attributes().catch(attributes().parse({})),
  });

const file = () =>
  message({
    filename: textOrEmpty(),
    location: textOrEmpty(),
    startedAt: fromNanoseconds(),
    /** milliseconds */
    duration: fromNanoseconds(),
    /** bytes */
    size: positiveInt64().transform((value) => (Number.isSafeInteger(value) ? value : 0)),
  });

const segments = () => message({ playlistName: textOrEmpty(), livePlaylistName: textOrEmpty() });

export const egressInfo = lazily(() =>
  message({
    egressId: key(),
    roomId: textOrEmpty(),
    roomName: textOrEmpty(),
    status: nameAmong(EGRESS_STATUSES),
    error: textOrEmpty(),
    startedAt: fromNanoseconds(),
    endedAt: fromNanoseconds(),
    fileResults: list(file(), MAX_EGRESS_FILES),
    segmentResults: list(segments(), MAX_EGRESS_FILES),
    /** Older servers write a single result into `file` and `segments`. */
    file: file().nullish().catch(null),
    segments: segments().nullish().catch(null),
    manifestLocation: textOrEmpty(),
    backupStorageUsed: flagOrFalse(),
  }),
);

export type EgressInfo = z.output<ReturnType<typeof egressInfo>>;

/** A response may omit its list if that is empty. But a response with other fields instead is not LiveKit's. */
const omittedIfEmpty = <Item>(response: z.ZodType<Item[]>) =>
  z.union([z.strictObject({}).transform((): Item[] => []), response]);

export const egressList = lazily(() =>
  omittedIfEmpty(message({ items: upToFirstFault(z.array(egressInfo())) }).transform(({ items }) => items)),
);

/** The sids in the response to ListRooms. Fails on a room that cannot be parsed, because its call would count as gone. */
export const roomList = lazily(() =>
  omittedIfEmpty(
    message({ rooms: z.array(message({ sid: key() })) }).transform(({ rooms }) =>
      rooms.map(({ sid }) => sid),
    ),
  ),
);

export const liveKitEvent = lazily(() =>
  message({
    event: textOrEmpty(),
    id: textOrEmpty(),
    createdAt: fromSeconds(),
    room: room().nullish().catch(null),
    participant: participant().nullish().catch(null),
    egressInfo: egressInfo().nullish().catch(null),
  }),
);

export type LiveKitEvent = z.output<ReturnType<typeof liveKitEvent>>;
