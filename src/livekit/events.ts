import * as z from "zod";
import { jsonOrUndefined } from "../bytes/json.ts";
import { consentMethod, type consentReport } from "../calls/consents/consents.schemas.ts";
import { PARTICIPANT_ROLES, type ParticipantRole } from "../database/enums.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { externalReference, id, idAsText, instant, key, name, roomSlug } from "../http/wire.ts";
import { MAX_LIVEKIT_ROOM_NAME_LENGTH, MAX_LIVEKIT_SID_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { SECOND } from "../units.ts";
import { type EgressEvent, toEgressEvent } from "./egress_info.ts";
import { type LiveKitEvent, liveKitEvent } from "./protojson.ts";
import { metadataAtFault, type Room } from "./rooms.ts";

const callMetadata = lazily(() =>
  z.object({ waiting_room_slug: roomSlug(), organization_user_id: z.union([id(), idAsText()]) }),
);

/** An event about a participant of a room, or about its closing. */
export interface RoomEvent extends Room {
  /** The metadata that creates a call, or why it cannot. */
  metadata: z.output<ReturnType<typeof callMetadata>> | { unusable: string };
  external_reference: string | undefined;
  /** When LiveKit sent the event, in milliseconds. LiveKit writes whole seconds, so this is the end of the second. */
  reported_at: number;
  closed_at?: number;
  visitor?: Visitor;
}

export interface Visitor {
  /** The participant's key, and the key to use if the first one belongs to another call. */
  keys: [string, string];
  at: number;
  /** When this connection began, in milliseconds; undefined if LiveKit does not report it. */
  joined_at: number | undefined;
  /** When this connection ended; null while it lasts. */
  left_at: number | null;
  /** False for a person who never came, such as an unanswered phone. */
  came: boolean;
  display_name: string | undefined;
  role: ParticipantRole | undefined;
  user_id: number | undefined;
  external_reference: string | undefined;
  consent: z.output<ReturnType<typeof consentReport>>;
}

export type Translation =
  | { room: RoomEvent }
  | { egress: EgressEvent }
  | { unusable: "malformed" | "nothing to report" | "no organization" }
  | { none: true };

/** Faults to log, although the event is still used. */
interface Faults {
  fields: string[];
  /** Whether a consent that is neither true nor false was read as a refusal. */
  is_consent_unclear: boolean;
}

/** @param now used as the time of an event that does not state its own */
export function translate(body: unknown, now: number): Translation & { ids: object; faults: Faults } {
  const parsed = liveKitEvent().safeParse(body);
  const faults: Faults = { fields: [], is_consent_unclear: false };
  if (!parsed.success) return { unusable: "malformed", ids: {}, faults };
  return { ...translateEvent(parsed.data, now, faults), ids: idsOf(parsed.data), faults };
}

function translateEvent(event: LiveKitEvent, now: number, faults: Faults): Translation {
  if (event.event.startsWith("egress_")) {
    const { egressInfo: info } = event;
    if (!info || isTooLong(info.roomId, info.roomName)) return { unusable: "malformed" };
    const egress = toEgressEvent(info, event.createdAt || now);
    return egress ? { egress } : { unusable: "no organization" };
  }
  if (!event.room) return { unusable: "nothing to report" };
  const { sid: room_sid, name: room_name, metadata } = event.room;
  if (isTooLong(room_sid, room_name) || isTooLong(event.participant?.sid ?? ""))
    return { unusable: "malformed" };
  const organization_slug = organizationSlugOf(room_name);
  if (organization_slug === undefined) return { unusable: "no organization" };
  const at = Math.min(event.createdAt || now, now);
  const isClosing = event.event === "room_finished";
  const visitor = visitorOf(event, room_sid, at, faults);
  if (!visitor && !isClosing) return { none: true };
  const read = jsonOrUndefined(metadata);
  return {
    room: {
      organization_slug,
      room_sid,
      metadata: readMetadata(read, organization_slug),
      external_reference: referenceIn(read, faults),
      reported_at: Math.min(at + SECOND - 1, now),
      ...(isClosing && { closed_at: at }),
      ...(visitor && { visitor }),
    },
  };
}

const metadataFields = (metadata: unknown): Record<string, unknown> =>
  typeof metadata === "object" && metadata !== null ? { ...metadata } : {};

function readMetadata(metadata: unknown, organization_slug: string): RoomEvent["metadata"] {
  const fields = metadataFields(metadata);
  if (!Object.keys(callMetadata().shape).some((each) => each in fields)) return { unusable: "no call" };
  const { data, error } = callMetadata().safeParse(fields);
  const unusable = new Set(error?.issues.map(({ path: [name] }) => String(name)));
  const isOwn = organizationSlugOf(String(fields.waiting_room_slug)) === organization_slug;
  if (!isOwn) unusable.add("waiting_room_slug");
  return data && isOwn ? data : { unusable: metadataAtFault([...unusable]) };
}

const isTooLong = (sid: string, room_name = "") =>
  sid.length > MAX_LIVEKIT_SID_LENGTH || room_name.length > MAX_LIVEKIT_ROOM_NAME_LENGTH;

/** Some apps write numeric references into the JSON as numbers. */
function referenceIn(metadata: unknown, faults: Faults): string | undefined {
  const { external_reference: said } = metadataFields(metadata);
  const text = Number.isSafeInteger(said) ? String(said) : said;
  return usable("external_reference", externalReference(), text ?? "", faults);
}

/** Returns a field if it can be used, and otherwise notes its name. An empty field says nothing. */
function usable<Output>(
  field: string,
  schema: z.ZodType<Output>,
  said: unknown,
  faults: Faults,
): Output | undefined {
  if (said === "") return undefined;
  const { success, data } = schema.safeParse(said);
  if (!success) faults.fields.push(field);
  return data;
}

/** SIP callers are people. */
const MACHINES = ["EGRESS", "INGRESS", "AGENT", "BRIDGE"];

/** With these reasons, the person is still in the room, on another connection. */
const STAYS = ["DUPLICATE_IDENTITY", "MIGRATION"];

const NEVER_CAME = ["USER_UNAVAILABLE", "USER_REJECTED", "SIP_TRUNK_FAILURE", "JOIN_FAILURE"];

const VISITS = ["participant_joined", "participant_left", "participant_connection_aborted"];

function visitorOf(
  { event, createdAt, participant }: LiveKitEvent,
  room_sid: string,
  at: number,
  faults: Faults,
): Visitor | undefined {
  if (!participant || !VISITS.includes(event)) return undefined;
  const { sid, identity, kind, attributes, disconnectReason, permission } = participant;
  if (MACHINES.includes(kind) || permission.recorder) return undefined;
  const isKey = (text: string) => key().safeParse(text).success;
  // Always has a key, so that a refusal is never lost.
  const own = [identity, sid].find(isKey) ?? `${room_sid}:unnamed`;
  if (own !== identity) faults.fields.push("identity");
  const hasJoined = event === "participant_joined";
  const joined_at = participant.joinedAtMs || participant.joinedAt || (hasJoined && createdAt) || undefined;
  const isAborted = event === "participant_connection_aborted";
  // Without a time, this could be any of the person's connections.
  if (isAborted && joined_at === undefined) return undefined;
  const hasLeft = !hasJoined && !STAYS.includes(disconnectReason);
  const said = <Output>(field: keyof typeof attributes, schema: z.ZodType<Output>) =>
    usable(field, schema, attributes[field], faults);
  return {
    keys: [own, [`${room_sid}:${own}`, sid].find(isKey) ?? own],
    at,
    joined_at,
    left_at: hasLeft ? Math.max(at, joined_at ?? 0) : null,
    came: !isAborted && !(hasLeft && NEVER_CAME.includes(disconnectReason)),
    display_name: usable("name", name(), participant.name, faults),
    role: said("role", z.enum(PARTICIPANT_ROLES)),
    user_id: said("user_id", idAsText()),
    external_reference: said("external_reference", externalReference()),
    consent: {
      recording_consent: consentIn(attributes.recording_consent, faults),
      recording_consent_at: said("recording_consent_at", instant()),
      recording_consent_method: said("recording_consent_method", consentMethod()),
    },
  };
}

/** Every text except `true` is a refusal, because consent must be clear. */
function consentIn(text: string, faults: Faults): boolean | undefined {
  if (text === "") return undefined;
  const isGrant = text.toLowerCase() === "true";
  if (!isGrant && text !== "false") faults.is_consent_unclear = true;
  return isGrant;
}

/** The ids of an event, for the log. Values that do not look like LiveKit ids are left out. */
function idsOf({ event, id, room, egressInfo }: LiveKitEvent): object {
  const ids = {
    livekit_event: /^[a-z_]{1,50}$/.exec(event)?.[0],
    event_id: /^EV_\w{1,50}$/.exec(id)?.[0],
    room_sid: /^RM_\w{1,50}$/.exec(room?.sid ?? egressInfo?.roomId ?? "")?.[0],
  };
  return Object.fromEntries(Object.entries(ids).filter(([, value]) => value !== undefined));
}
