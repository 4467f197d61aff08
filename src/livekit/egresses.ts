import { eq, getTableColumns } from "drizzle-orm";
import type { Context } from "../context.ts";
import { type Decision, writeDecision } from "../database/decisions.ts";
import { replaceAllBut } from "../database/insert.ts";
import { reviseRecord } from "../database/merging.ts";
import { namedCleanUp } from "../database/portions.ts";
import { builder, namedQuery, type Placeholders, type Row, runAll } from "../database/queries.ts";
import { livekitEgresses } from "../database/schema.ts";
import { LIVEKIT_EGRESS_KEPT_FOR } from "../limits.ts";
import { mergeEgress, mergeState } from "../resources/egresses/egresses.merge.ts";
import { insertEgress, updateEgress } from "../resources/egresses/egresses.service.ts";
import { egressByKey } from "../resources/egresses/egresses.sql.ts";
import type { EgressEvent } from "./events.ts";
import { callOfRoom } from "./rooms.sql.ts";

/**
 * Records what LiveKit says of an egress. If nobody has reported the call of the room yet, it waits for the call (see
 * triggers/livekit_egresses.sql). What several events say of one egress is merged as reports are.
 */
export async function reportEgressOfRoom({ db, now }: Context, event: EgressEvent): Promise<void> {
  const { egress_id, room_sid: sid, room_name: name, report } = event;
  await writeDecision(
    db,
    [egressByKey({ egress_id }), callOfRoom({ sid, name }), waitingEgress({ egress_id })],
    ([known], [call], [waiting]): Decision<unknown> => {
      if (known) {
        const next = mergeEgress(known, report, { call: undefined, isMember: false }, now);
        return next === known ? { unchanged: known } : { writes: [updateEgress({ id: known.id, ...next })] };
      }
      const state = mergeState(waiting, report, now);
      if (call) {
        const { organization_id, id: call_id } = call;
        const first = reviseRecord(undefined, { organization_id, call_id, ...state }, now, {
          changed_by_user_id: null,
        });
        return { writes: [deleteWaiting({ egress_id }), insertEgress({ egress_id, ...first })] };
      }
      const room = {
        room_sid: sid || (waiting?.room_sid ?? null),
        room_name: name || (waiting?.room_name ?? null),
      };
      const next = reviseRecord(waiting, { egress_id, ...room, ...state }, now);
      return next === waiting ? { unchanged: waiting } : { writes: [writeWaiting(next)] };
    },
  );
}

const waitingColumns = getTableColumns(livekitEgresses);

const waitingEgress = namedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder.select(waitingColumns).from(livekitEgresses).where(eq(livekitEgresses.egress_id, egress_id)),
);

const deleteWaiting = namedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder.delete(livekitEgresses).where(eq(livekitEgresses.egress_id, egress_id)),
);

const writeWaiting = namedQuery((egress: Placeholders<Row<typeof waitingColumns>>) =>
  builder
    .insert(livekitEgresses)
    .values({
      egress_id: egress.egress_id,
      room_sid: egress.room_sid,
      room_name: egress.room_name,
      status: egress.status,
      error: egress.error,
      is_stopped: egress.is_stopped,
      ended_at: egress.ended_at,
      storage_key: egress.storage_key,
      created_at: egress.created_at,
      updated_at: egress.updated_at,
    })
    .onConflictDoUpdate({
      target: livekitEgresses.egress_id,
      set: replaceAllBut(livekitEgresses, ["egress_id", "created_at"]),
    })
    .returning(waitingColumns),
);

/**
 * Deletes what has waited for a call for a day, a portion in one run.
 *
 * @returns how many
 */
export async function deleteOldLiveKitEgresses({ db, now }: Context): Promise<number> {
  return (await runAll(db, deleteOld({ before: now - LIVEKIT_EGRESS_KEPT_FOR }))).length;
}

const deleteOld = namedCleanUp(livekitEgresses, livekitEgresses.updated_at);
