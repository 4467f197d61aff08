import { and, eq, getTableColumns, ne, sql } from "drizzle-orm";
import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { hasValues } from "../database/expressions.ts";
import { manyRowWrites } from "../database/insert.ts";
import { reviseRow } from "../database/merging.ts";
import { builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { calls, egresses, egressFiles, livekitEgresses } from "../database/schema.ts";
import { deleteBy, selectColumn } from "../database/selects.ts";
import { upsertIfChanged } from "../database/table_writes.ts";
import { mergeEgress, mergeState, nextCheck, reviseEgress } from "../resources/egresses/egresses.merge.ts";
import { egressColumns, egressWrites, hasEgressKey } from "../resources/egresses/egresses.sql.ts";
import { organizationBySlug } from "../resources/organizations/organizations.sql.ts";
import type { EgressEvent } from "./egress_info.ts";
import { noOrganization } from "./rooms.refusals.ts";
import { callIdOfRoom, organizationOfRoom, type Room } from "./rooms.sql.ts";

/** What became of an event. */
interface Outcome {
  /** That of the egress now. */
  status: string;
  /** Why the file that LiveKit names was left out. */
  file_fault?: "not a storage key" | "of another recording" | undefined;
}

/**
 * Records what LiveKit says of an egress. If nobody has reported the call of the room yet, it waits for the call (see
 * triggers/livekit_egresses.sql). What several events say of one egress is merged as reports are. A file that the egress
 * cannot have is left out, and the rest is taken.
 *
 * @throws ApiError 404 if there is no organization with the slug with which the room's name begins
 */
export async function reportEgressOfRoom({ db, now }: Context, event: EgressEvent): Promise<Outcome> {
  const { organization_slug, egress_id, room_sid, room_name, begun_by, happened_at, report } = event;
  const { storage_key = null, ...withoutFile } = report;
  const room = { organization_slug, room_sid, room_name, begun_by, happened_at };
  const key = { organization_slug, egress_id };
  let file_fault: Outcome["file_fault"];
  const { status } = await decideAndWrite(
    db,
    [
      organizationBySlug({ slug: organization_slug }),
      egressRead(key),
      callRead(room),
      waitingEgress(key),
      filesOfOthers({ ...key, storage_key }),
      filesOfOthersWaiting({ ...key, storage_key }),
    ],
    ([organization], [egress], [call], [waiting], files, waitingFiles): Decision<{ status: string }> => {
      if (!organization) throw noOrganization();
      const taken = new Set([...files, ...waitingFiles].map((file) => file.storage_key));
      const isTaken = taken.has(storage_key);
      file_fault = faultOfFile(event, isTaken);
      const news = isTaken ? withoutFile : report;
      if (egress) {
        const known = { organization, egress, call: undefined, isMember: false, fileOwner: undefined };
        return upsertIfChanged(egressWrites, egress, mergeEgress(known, egress_id, news, now));
      }
      const { early_ended_at: _, ...merged } = mergeState(waiting, news, now);
      const state = { ...merged, storage_key: taken.has(merged.storage_key) ? null : merged.storage_key };
      const own = { organization_id: organization.id, egress_id };
      if (call) {
        // By the name of a room that is used again, a call whose end is not known yet may be another one.
        const began_at = call.key === room_sid ? null : (waiting ?? event).started_at;
        const next = reviseEgress(undefined, { ...own, call_id: call.id, began_at, ...state }, null, now);
        return { writes: [deleteWaiting(own), egressWrites.insert(next)] };
      }
      const where = {
        room_sid: room_sid || (waiting?.room_sid ?? null),
        room_name: room_name || (waiting?.room_name ?? null),
        started_at: Math.min(event.started_at, waiting?.started_at ?? event.started_at),
      };
      const check = { check_at: nextCheck(state, now) };
      const next = reviseRow(waiting, { ...own, ...where, ...state }, now, check);
      return next === waiting
        ? { unchanged: waiting }
        : { writes: [writeWaiting([next]), waitingEgress(key)] };
    },
  );
  return { status, file_fault };
}

function faultOfFile({ has_unusable_file }: EgressEvent, isTaken: boolean): Outcome["file_fault"] {
  if (isTaken) return "of another recording";
  return has_unusable_file ? "not a storage key" : undefined;
}

/** An egress, by the slug of its organization. */
type EgressOfRoom = Pick<EgressEvent, "organization_slug" | "egress_id">;

type NamedFile = EgressOfRoom & { storage_key: string | null };

const egressRead = preparedQuery((egress: Placeholders<EgressOfRoom>) =>
  builder
    .select(egressColumns)
    .from(egresses)
    .where(hasEgressKey({ organization_id: organizationOfRoom(egress), egress_id: egress.egress_id })),
);

const callRead = preparedQuery((room: Placeholders<Room>) =>
  builder
    .select({ id: calls.id, key: calls.key })
    .from(calls)
    .where(eq(calls.id, callIdOfRoom(room))),
);

const isWaiting = (egress: Placeholders<EgressOfRoom>) =>
  hasValues(livekitEgresses, { organization_id: organizationOfRoom(egress), egress_id: egress.egress_id });

const waitingEgress = preparedQuery((egress: Placeholders<EgressOfRoom>) =>
  builder.select(getTableColumns(livekitEgresses)).from(livekitEgresses).where(isWaiting(egress)),
);

/** Of the file that an event names, and of that which was named while the egress waits: those that another recording has. */
const filesOfOthers = preparedQuery((file: Placeholders<NamedFile>) => {
  const waiting = selectColumn(livekitEgresses.storage_key, isWaiting(file));
  return builder
    .select({ storage_key: egressFiles.storage_key })
    .from(egressFiles)
    .innerJoin(egresses, eq(egresses.id, egressFiles.egress_id))
    .where(
      and(
        eq(egressFiles.organization_id, organizationOfRoom(file)),
        sql`${egressFiles.storage_key} in (${file.storage_key}, ${waiting})`,
        ne(egresses.egress_id, file.egress_id),
      ),
    )
    .orderBy(egressFiles.storage_key);
});

/** The file that an event names, if another egress waits that has it. */
const filesOfOthersWaiting = preparedQuery((file: Placeholders<NamedFile>) =>
  selectColumn(
    livekitEgresses.storage_key,
    hasValues(livekitEgresses, {
      organization_id: organizationOfRoom(file),
      storage_key: file.storage_key,
    }),
    ne(livekitEgresses.egress_id, file.egress_id),
  ),
);

const writeWaiting = manyRowWrites(livekitEgresses, ["organization_id", "egress_id"]);

const deleteWaiting = deleteBy(livekitEgresses, "organization_id", "egress_id");
