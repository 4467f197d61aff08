import { eq, getTableColumns } from "drizzle-orm";
import type { Context } from "../context.ts";
import { cleanUpOfNobody } from "../database/clean_up.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { manyRowWrites } from "../database/many_row_writes.ts";
import { reviseRow } from "../database/merging.ts";
import { builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { livekitEgresses } from "../database/schema.ts";
import { upsertIfChanged } from "../database/table_writes.ts";
import { LIVEKIT_EGRESS_KEPT_FOR } from "../limits.ts";
import { mergeEgress, mergeState, reviseEgress } from "../resources/egresses/egresses.merge.ts";
import { egressByKey, egressWrites } from "../resources/egresses/egresses.sql.ts";
import type { EgressEvent } from "./events.ts";
import { callOfRoom } from "./rooms.sql.ts";

/**
 * Records what LiveKit says of an egress. If nobody has reported the call of the room yet, it waits for the call (see
 * triggers/livekit_egresses.sql). What several events say of one egress is merged as reports are.
 */
export async function reportEgressOfRoom({ db, now }: Context, event: EgressEvent): Promise<void> {
  const { egress_id, room_sid: sid, room_name: name, report } = event;
  await decideAndWrite(
    db,
    [egressByKey({ egress_id }), callOfRoom({ sid, name }), waitingEgress({ egress_id })],
    ([egress], [call], [waiting]): Decision<unknown> => {
      if (egress) {
        const known = { egress, call: undefined, isMember: false };
        return upsertIfChanged(egressWrites, egress, mergeEgress(known, egress_id, report, now));
      }
      const state = mergeState(waiting, report, now);
      if (call) {
        const { organization_id, id: call_id } = call;
        const next = reviseEgress(undefined, { organization_id, call_id, egress_id, ...state }, null, now);
        return { writes: [deleteWaiting({ egress_id }), egressWrites.insert(next)] };
      }
      const room = {
        room_sid: sid || (waiting?.room_sid ?? null),
        room_name: name || (waiting?.room_name ?? null),
      };
      const next = reviseRow(waiting, { egress_id, ...room, ...state }, now);
      return next === waiting
        ? { unchanged: waiting }
        : { writes: [writeWaiting([next]), waitingEgress({ egress_id })] };
    },
  );
}

const waitingEgress = preparedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder
    .select(getTableColumns(livekitEgresses))
    .from(livekitEgresses)
    .where(eq(livekitEgresses.egress_id, egress_id)),
);

const writeWaiting = manyRowWrites(livekitEgresses, ["egress_id"]);

const deleteWaiting = preparedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder.delete(livekitEgresses).where(eq(livekitEgresses.egress_id, egress_id)),
);

/** Deletes what has waited for a call for a day. */
export const deleteOldLiveKitEgresses = cleanUpOfNobody(
  livekitEgresses,
  livekitEgresses.updated_at,
  LIVEKIT_EGRESS_KEPT_FOR,
);
