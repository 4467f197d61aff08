import { and, eq, exists, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { callIdByKey } from "../calls/calls/calls.sql.ts";
import { participantColumns } from "../calls/participants/participants.sql.ts";
import { participants } from "../calls/participants/participants.table.ts";
import { hasValues, iif, scalar } from "../database/expressions.ts";
import { insertRows } from "../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery, type Values } from "../database/queries.ts";
import { rowsWhere, selectColumn } from "../database/selects.ts";
import { ApiError, unprocessable } from "../http/errors.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";
import { livekitRooms, livekitVisitors } from "./rooms.table.ts";

export interface Room {
  /** The start of the room's name. */
  organization_slug: string;
  /** The key of the room's call. Empty if LiveKit omits it: no call has an empty key. */
  room_sid: string;
}

export const organizationOfRoom = ({ organization_slug }: Pick<Values<Room>, "organization_slug">) =>
  scalar(selectColumn(organizations.id, eq(organizations.slug, organization_slug)));

export const callIdOfRoom = (room: Values<Room>) =>
  callIdByKey({ organization_id: organizationOfRoom(room), key: room.room_sid });

const isOfRoom = (table: typeof livekitRooms | typeof livekitVisitors, room: Values<Room>) =>
  hasValues(table, { organization_id: organizationOfRoom(room), room_sid: room.room_sid });

export const roomMemory = rowsWhere(
  livekitRooms,
  { closed_at: livekitRooms.closed_at, call_ended_at: livekitRooms.call_ended_at },
  (room: Placeholders<Room>) => isOfRoom(livekitRooms, room),
);

const { key_digest, connections } = livekitVisitors;

export const visitorsByDigests = rowsWhere(
  livekitVisitors,
  { key_digest, connections },
  (room: Placeholders<Room & { digests: string }>) =>
    and(isOfRoom(livekitVisitors, room), inArray(key_digest, jsonValues(room.digests))),
);

type WholeRoom = Placeholders<Room & { is_whole: boolean }>;

/** The value if `is_whole`, or the room is closed; otherwise null, so that nothing is read. */
function ifWhole(room: WholeRoom, value: SQLWrapper): SQL {
  const isClosed = exists(selectColumn(livekitRooms.closed_at, isOfRoom(livekitRooms, room)));
  return iif(sql`${room.is_whole} or ${isClosed}`, value, null);
}

export const allVisitors = preparedQuery((room: WholeRoom) => {
  const room_sid = ifWhole(room, sql`${room.room_sid}`);
  return builder
    .select({ key_digest, connections })
    .from(livekitVisitors)
    .where(hasValues(livekitVisitors, { organization_id: organizationOfRoom(room), room_sid }));
});

export const everyoneOnCall = preparedQuery((room: WholeRoom) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(eq(participants.call_id, ifWhole(room, callIdOfRoom(room))))
    .orderBy(participants.id),
);

export const rememberRooms = insertRows(livekitRooms, { uniqueBy: ["organization_id", "room_sid"] });

export const rememberVisitors = insertRows(livekitVisitors, {
  uniqueBy: ["organization_id", "room_sid", "key_digest"],
});

export const noOrganization = () => new ApiError(404, "not_found", "no organization");

export const metadataUnusable = (why: string) => unprocessable("metadata_unusable", why);

/** Names the fields of a room's metadata that cannot be used, never their values. */
export const metadataAtFault = (fields: string[]) => `metadata at fault: ${fields.join(", ")}`;
