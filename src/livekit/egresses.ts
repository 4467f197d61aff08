import { eq, getTableColumns, or } from "drizzle-orm";
import type { Context } from "../context.ts";
import { cleanUpOfNobody } from "../database/clean_up.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { manyRowWrites } from "../database/many_row_writes.ts";
import { reviseRow } from "../database/merging.ts";
import { builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { livekitEgresses, storageKeys } from "../database/schema.ts";
import { upsertIfChanged } from "../database/table_writes.ts";
import { LIVEKIT_EGRESS_KEPT_FOR } from "../limits.ts";
import type { Call } from "../resources/calls/calls.schemas.ts";
import { mergeEgress, mergeState, nextCheck, reviseEgress } from "../resources/egresses/egresses.merge.ts";
import { egressByKey, egressWrites } from "../resources/egresses/egresses.sql.ts";
import type { EgressEvent } from "./egress_info.ts";
import { callOfRoom } from "./rooms.sql.ts";

/** What became of an event. */
interface Outcome {
  /** That of the egress now. */
  status: string;
  /** Why the file that LiveKit names was left out. */
  file_fault?: "not a storage key" | "of another organization" | undefined;
}

/** There is no call for the egress in this shard: it must wait in the directory, which the report of a call asks. */
export class NoCallHere extends Error {}

/** What only several databases have. */
interface FromElsewhere {
  /** Files of organizations in other databases, of those that LiveKit names. */
  foreignFiles?: { storage_key: string; organization_id: number }[];
  /** True for what LiveKit said long ago. So it changes nothing of a known egress, and does not wait again. */
  hasWaited?: boolean;
}

/**
 * Records what LiveKit says of an egress. If nobody has reported the call of the room yet, it waits for the call (see
 * triggers/livekit_egresses.sql). What several events say of one egress is merged as reports are. A file that the egress
 * cannot have is left out, and the rest is taken.
 *
 * @throws NoCallHere if the egress has to wait for its call, and this is not the directory, or it has waited
 */
export async function reportEgressOfRoom(
  { db, shard, now }: Context,
  event: EgressEvent,
  { foreignFiles = [], hasWaited = false }: FromElsewhere = {},
): Promise<Outcome> {
  const { egress_id, room_sid: sid, room_name: name, report } = event;
  const { storage_key, ...withoutFile } = report;
  let file_fault: Outcome["file_fault"];
  const { status } = await decideAndWrite(
    db,
    [
      egressByKey({ egress_id }),
      callOfRoom({ sid, name }),
      waitingEgress({ egress_id }),
      ownersOfFiles({ egress_id, storage_key: storage_key ?? null }),
    ],
    ([egress], [found], [waiting], files): Decision<{ status: string }> => {
      const call = found && isCallOf(event, found) ? found : undefined;
      const organization = (egress ?? call)?.organization_id;
      const owners = [...files, ...foreignFiles];
      const isForeign = (key: string | null | undefined) =>
        owners.some(
          (file) =>
            file.storage_key === key && file.organization_id !== (organization ?? file.organization_id),
        );
      file_fault = faultOfFile(event, isForeign(storage_key));
      const news = isForeign(storage_key) ? withoutFile : report;
      if (egress && hasWaited) return { unchanged: egress };
      if (egress) {
        const known = { egress, call: undefined, isMember: false, fileOwner: undefined };
        return upsertIfChanged(egressWrites, egress, mergeEgress(known, egress_id, news, now));
      }
      const { early_ended_at: _, ...state } = mergeState(waiting, news, now);
      if (call) {
        const { organization_id, id: call_id } = call;
        const file = { storage_key: isForeign(state.storage_key) ? null : state.storage_key };
        const fields = { organization_id, call_id, egress_id, ...state, ...file };
        const next = reviseEgress(undefined, fields, null, now);
        return { writes: [deleteWaiting({ egress_id }), egressWrites.insert(next)] };
      }
      if (shard > 0 || hasWaited) throw new NoCallHere();
      const room = {
        room_sid: sid || (waiting?.room_sid ?? null),
        room_name: name || (waiting?.room_name ?? null),
        started_at: Math.min(event.started_at, waiting?.started_at ?? event.started_at),
      };
      const check = { check_at: nextCheck(state, now) };
      const next = reviseRow(waiting, { egress_id, ...room, ...state }, now, check);
      return next === waiting
        ? { unchanged: waiting }
        : { writes: [writeWaiting([next]), waitingEgress({ egress_id })] };
    },
  );
  return { status, file_fault };
}

function faultOfFile({ has_unusable_file }: EgressEvent, isForeign: boolean): Outcome["file_fault"] {
  if (isForeign) return "of another organization";
  return has_unusable_file ? "not a storage key" : undefined;
}

/** A name can be used again: it does not lead to a call that had ended when the egress began. */
const isCallOf = ({ room_sid, started_at }: EgressEvent, { key, ended_at }: Call) =>
  key === room_sid || ended_at === null || ended_at > started_at;

/** The organizations of the files that an event names, or that were named while the egress waits. */
const ownersOfFiles = preparedQuery(
  ({ egress_id, storage_key }: Placeholders<{ egress_id: string; storage_key: string | null }>) => {
    const waiting = builder
      .select({ storage_key: livekitEgresses.storage_key })
      .from(livekitEgresses)
      .where(eq(livekitEgresses.egress_id, egress_id));
    return builder
      .select(getTableColumns(storageKeys))
      .from(storageKeys)
      .where(or(eq(storageKeys.storage_key, storage_key), eq(storageKeys.storage_key, waiting)))
      .orderBy(storageKeys.storage_key);
  },
);

export const waitingEgress = preparedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
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
