import { eq } from "drizzle-orm";
import { callIdByKey } from "../calls/calls/calls.sql.ts";
import { scalar } from "../database/expressions.ts";
import type { Values } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";

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
