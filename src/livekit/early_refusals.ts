import { and, gte, isNull, lt, ne, notExists, sql } from "drizzle-orm";
import { earlyRefusals } from "../calls/consents/consents.table.ts";
import type { NamedKeys } from "../calls/participants/participants.sql.ts";
import type { Context } from "../context.ts";
import { EGRESS_DELETED } from "../database/enums.ts";
import { hasValues, iif, least } from "../database/expressions.ts";
import { excluded, insertSelect, valuesFor } from "../database/insert.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { isInTurn, type Turn, workOff } from "../database/turns.ts";
import { UNCLAIMED_KEPT_FOR } from "../lifetimes.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import type { RoomEvent, Visitor } from "./events.ts";

/** The start of the event's connection, or the event's own time if it is not known. */
const connectionOf = ({ joined_at, at }: Visitor) => joined_at ?? at;

/**
 * The statement that keeps an event's refused consent until a report of the room's call names the person. Used if the room has
 * no call yet, and for a connection on which the person never came: such a refused consent hides no recording, but counts if
 * the person comes by another one.
 *
 * @returns undefined if the event has no refused consent, or LiveKit does not name the room
 */
export function keepRefusal(
  organization_id: number,
  { room_sid, visitor, reported_at }: RoomEvent,
  { digestOf }: NamedKeys,
  now: number,
): BoundQuery<unknown> | undefined {
  if (visitor?.consent.recording_consent !== false || room_sid === "") return undefined;
  const { recording_consent_at: said_at = null, recording_consent_method: method = null } = visitor.consent;
  // As in consents.merge.ts: the time of the decision or, without one, of the event.
  const decided_at = Math.min(said_at ?? reported_at, reported_at);
  const [key_digest, other_digest] = visitor.keys.map(digestOf) as [string, string];
  const { came } = visitor;
  const who = { organization_id, room_sid, key_digest, other_digest, came, joined_at: connectionOf(visitor) };
  return insertRefusal({
    ...who,
    ...{ decided_at, said_at, method, reported_at, unclaimed_since: now, created_at: now },
  });
}

/** Keeps the latest refused consent of a connection. `came` is false once an event says that nobody came by the connection. */
const insertRefusal = preparedQuery((row: Placeholders<typeof earlyRefusals.$inferSelect>) => {
  const isLater = gte(excluded(earlyRefusals.decided_at), earlyRefusals.decided_at);
  const latest = (column: "decided_at" | "said_at" | "method" | "reported_at") =>
    iif(isLater, excluded(earlyRefusals[column]), earlyRefusals[column]);
  return insertSelect(earlyRefusals, valuesFor(earlyRefusals, row)).onConflictDoUpdate({
    target: [
      earlyRefusals.organization_id,
      earlyRefusals.room_sid,
      earlyRefusals.key_digest,
      earlyRefusals.joined_at,
    ],
    set: {
      came: least(sql`came`, excluded(earlyRefusals.came)),
      decided_at: latest("decided_at"),
      said_at: latest("said_at"),
      method: latest("method"),
      reported_at: latest("reported_at"),
      unclaimed_since: excluded(earlyRefusals.unclaimed_since),
    },
  });
});

/**
 * Deletes refused consents whose call was not reported in time, unless a recording of the room can still get a call.
 *
 * @returns the number of deleted rows
 */
export const deleteUnclaimedRefusals = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => deleteUnclaimed({ ...turn, before: now - UNCLAIMED_KEPT_FOR }));

const deleteUnclaimed = preparedQuery((old: Placeholders<Turn & { before: number }>) => {
  const waiting = selectColumn(
    egresses.id,
    hasValues(egresses, {
      organization_id: earlyRefusals.organization_id,
      room_sid: earlyRefusals.room_sid,
    }),
    and(isNull(egresses.call_id), ne(egresses.status, EGRESS_DELETED)),
  );
  const { unclaimed_since: time } = earlyRefusals;
  const due = {
    time,
    where: and(lt(time, old.before), notExists(waiting)),
    indexed: sql`${time} is not null`,
  };
  return builder
    .delete(earlyRefusals)
    .where(isInTurn(earlyRefusals, due, old))
    .returning({ organization_id: earlyRefusals.organization_id });
});
