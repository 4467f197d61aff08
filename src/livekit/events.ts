import * as z from "zod";
import { jsonOrUndefined } from "../bytes/json.ts";
import { PARTICIPANT_ROLES, type ParticipantRole } from "../database/enums.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { externalReference, id, idAsText, instant, key, name, roomSlug } from "../http/wire.ts";
import { MAX_LIVEKIT_SID_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { consentMethod } from "../resources/consents/consents.fields.ts";
import type { consentReport } from "../resources/consents/consents.schemas.ts";
import { SECOND } from "../units.ts";
import { type EgressEvent, egressInfo, toEgressEvent } from "./egress_info.ts";
import { beginOfCall, type Room } from "./rooms.sql.ts";

/*
 * What LiveKit's events say, in the words of the service. Events are protojson: 64-bit integers are texts, and a field
 * with its default value is left out. A field that makes no sense counts as left out, and unknown ones are ignored: so
 * events of older and newer servers can be used too.
 */

const text = lazily(() => z.string().catch(""));

/** Becomes milliseconds since the epoch; 0 where there is no such time. So many digits reach up to the year 5138. */
const time = (digits: number, unit: number) =>
  z
    .union([z.string(), z.number()])
    .catch("0")
    .transform((value) => (new RegExp(`^\\d{1,${digits}}$`).test(String(value)) ? Number(value) * unit : 0));

const seconds = lazily(() => time(11, 1000));
const milliseconds = lazily(() => time(14, 1));

const room = lazily(() => z.object({ sid: key(), name: text(), metadata: text(), creationTime: seconds() }));

const attributes = lazily(() =>
  z.object({
    role: text(),
    user_id: text(),
    external_reference: text(),
    recording_consent: text(),
    recording_consent_at: text(),
    recording_consent_method: text(),
  }),
);

const participant = lazily(() =>
  z.object({
    sid: text(),
    identity: text(),
    name: text(),
    kind: text(),
    joinedAt: seconds(),
    joinedAtMs: milliseconds(),
    disconnectReason: text(),
    attributes: attributes().catch(attributes().parse({})),
  }),
);

const liveKitEvent = lazily(() =>
  z.object({
    event: text(),
    id: text(),
    createdAt: seconds(),
    room: room().nullish().catch(null),
    participant: participant().nullish().catch(null),
    egressInfo: egressInfo().nullish().catch(null),
  }),
);

type LiveKitEvent = z.output<ReturnType<typeof liveKitEvent>>;

/** What a room's metadata must say, as JSON, where LiveKit is to report the call. */
const callIds = lazily(() => z.object({ waiting_room_slug: roomSlug(), organization_user_id: id() }));

const callMetadata = lazily(() =>
  callIds().extend({ external_reference: externalReference().optional().catch(undefined) }),
);

/** An event of a room whose metadata says whose call it is. */
export interface RoomEvent extends z.output<ReturnType<typeof callMetadata>>, Room {
  /** When the room was made, or else the time of the event. */
  started_at: number;
  /** False where the event says no time, so that the time of an end is that at which it came. */
  has_time: boolean;
  /** Orders what events say of the room. */
  said_at: number;
  /** When the event was made: the same each time it comes. LiveKit writes whole seconds, so it is the end of one. */
  reported_at: number;
  /** False where the event does not say when the room was made, so that the call starts at the time of the event. */
  has_start: boolean;
  /** Set where the room has closed. */
  ended_at?: number;
  /** Set where somebody joined or left. */
  visitor?: Visitor;
}

/** Somebody who joined or left. What the event does not say is undefined. */
export interface Visitor {
  /** The participant's key, and another one for somebody who has been on another call under the first. */
  keys: [string, string];
  has_left: boolean;
  /** Orders what events say of one person: by the connection, and what it said in the end comes last. */
  said_at: number;
  /** The connection, as LiveKit names it. */
  connection: string;
  joined_at: number | undefined;
  left_at: number | undefined;
  display_name: string | undefined;
  role: ParticipantRole | undefined;
  user_id: number | undefined;
  external_reference: string | undefined;
  consent: z.output<ReturnType<typeof consentReport>>;
}

/** Why nothing can be reported. */
type Unusable = "malformed" | "nothing to report" | "no organization" | "no call" | "metadata at fault";

export type Translation = { room: RoomEvent } | { egress: EgressEvent } | { unusable: Unusable };

/** The ids of an event, for the log. What does not look like an id of LiveKit's is left out. */
interface EventIds {
  livekit_event?: string;
  event_id?: string;
  room_sid?: string;
}

/** What an event reports. `now` stands for the time of an event that has none. */
export function translate(body: unknown, now: number): Translation & { ids: EventIds } {
  const parsed = liveKitEvent().safeParse(body);
  if (!parsed.success) return { unusable: "malformed", ids: {} };
  return { ...translateEvent(parsed.data, now), ids: idsOf(parsed.data) };
}

function translateEvent(event: LiveKitEvent, now: number): Translation {
  if (event.event.startsWith("egress_")) {
    if (!event.egressInfo) return { unusable: "malformed" };
    if (event.egressInfo.roomId.length > MAX_LIVEKIT_SID_LENGTH) return { unusable: "malformed" };
    const egress = toEgressEvent(event.egressInfo, event.createdAt || now);
    return egress ? { egress } : { unusable: "no organization" };
  }
  if (!event.room) return { unusable: "nothing to report" };
  if ([event.room.sid, event.participant?.sid ?? ""].some((sid) => sid.length > MAX_LIVEKIT_SID_LENGTH))
    return { unusable: "malformed" };
  const { sid, name: room_name, metadata, creationTime } = event.room;
  const organization_slug = organizationSlugOf(room_name);
  if (organization_slug === undefined) return { unusable: "no organization" };
  const call = readMetadata(metadata, organization_slug);
  if ("unusable" in call) return call;
  // What is in the future counts as now.
  const at = Math.min(event.createdAt || now, now);
  const started_at = Math.min(creationTime || at, now);
  const { visitor } = visitorOf(event, sid, at, now);
  return {
    room: {
      ...call,
      organization_slug,
      room_sid: sid,
      room_name,
      has_time: event.createdAt > 0,
      said_at: event.createdAt,
      reported_at: Math.min(at + SECOND - 1, now),
      started_at,
      begun_by: beginOfCall(started_at),
      happened_at: visitor ? (visitor.joined_at ?? at) : started_at,
      has_start: creationTime > 0,
      ...(event.event === "room_finished" && { ended_at: at }),
      ...(visitor && { visitor }),
    },
  };
}

function readMetadata(
  metadata: string,
  organization_slug: string,
): z.output<ReturnType<typeof callMetadata>> | { unusable: Unusable } {
  const read = jsonOrUndefined(metadata);
  const names = typeof read === "object" && read !== null ? Object.keys(callIds().shape) : [];
  if (!names.some((each) => Object.hasOwn(read as object, each))) return { unusable: "no call" };
  const parsed = callMetadata().safeParse(read);
  const isOfOrganization =
    parsed.success && organizationSlugOf(parsed.data.waiting_room_slug) === organization_slug;
  return isOfOrganization ? parsed.data : { unusable: "metadata at fault" };
}

/** LiveKit's own participants. Callers by SIP are participants like any other. */
const MACHINERY = ["EGRESS", "INGRESS", "AGENT"];

/** The person is still there: in the same room by another connection, which LiveKit reports too. */
const STAYS = ["DUPLICATE_IDENTITY", "MIGRATION"];

/**
 * Who joined or left. A connection that was aborted (participant_connection_aborted) never became one: nobody was seen
 * or heard.
 */
function visitorOf(
  { event, createdAt, participant }: LiveKitEvent,
  room_sid: string,
  at: number,
  now: number,
): { visitor?: Visitor } {
  const joined = event === "participant_joined";
  if (!participant || (!joined && event !== "participant_left")) return {};
  const { sid, identity, kind, attributes } = participant;
  if (MACHINERY.includes(kind)) return {};
  const own = firstValid(key(), identity, sid);
  if (!own) return {};
  const said = participant.joinedAtMs || participant.joinedAt || (joined && createdAt) || undefined;
  const joined_at = said && Math.min(said, now);
  const has_left = !joined && !STAYS.includes(participant.disconnectReason);
  return {
    visitor: {
      keys: [own, firstValid(key(), `${room_sid}:${own}`, sid) ?? own],
      has_left,
      connection: sid,
      said_at: said === undefined ? createdAt : said + (joined ? 0 : 1),
      joined_at,
      left_at: has_left ? Math.max(at, joined_at ?? 0) : undefined,
      display_name: name().safeParse(participant.name).data,
      role: PARTICIPANT_ROLES.find((each) => each === attributes.role),
      user_id: idAsText().safeParse(attributes.user_id).data,
      external_reference: externalReference().safeParse(attributes.external_reference).data,
      consent: {
        recording_consent: CONSENTS.get(attributes.recording_consent),
        recording_consent_at: instant().safeParse(attributes.recording_consent_at).data,
        recording_consent_method: consentMethod().safeParse(attributes.recording_consent_method).data,
      },
    },
  };
}

const CONSENTS = new Map([
  ["true", true],
  ["false", false],
]);

/** The first of the texts that the schema takes. */
const firstValid = (schema: z.ZodType<string>, ...texts: string[]): string | undefined =>
  texts.find((each) => schema.safeParse(each).success);

function idsOf({ event, id, room, egressInfo }: LiveKitEvent): EventIds {
  const ids = {
    livekit_event: /^[a-z_]{1,50}$/.exec(event)?.[0],
    event_id: /^EV_\w{1,50}$/.exec(id)?.[0],
    room_sid: /^RM_\w{1,50}$/.exec(room?.sid ?? egressInfo?.roomId ?? "")?.[0],
  };
  return Object.fromEntries(Object.entries(ids).filter(([, value]) => value !== undefined));
}
