import { and, eq, exists, or, sql } from "drizzle-orm";
import { affordable, type Context, spend } from "../context.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../database/queries.ts";
import { calls, livekitEgresses, locations } from "../database/schema.ts";
import { SUBREQUESTS_OF_EGRESS, WAITING_EGRESSES_TAKEN } from "../limits.ts";
import type { EgressEvent } from "../livekit/egress_info.ts";
import { NoCallHere, reportEgressOfRoom } from "../livekit/egresses.ts";
import type { EgressReport } from "../resources/egresses/egresses.schemas.ts";
import { type Found, inPlace } from "./in_place.ts";
import type { WaitingEgress } from "./places.ts";
import { placeOfEgressReport } from "./report_places.ts";

/* The egresses of which LiveKit has spoken. Those whose call nobody has reported wait in the directory. */

export const placeOfEvent =
  ({ egress_id, room_sid, room_name, report }: EgressEvent) =>
  () => {
    const storage_key = report.storage_key ?? "";
    const names = { egress_id, call_key: room_sid, other_key: room_name, storage_key };
    return placeOfEgressReport({ ...names, now: Date.now() });
  };

export const reportIn = (there: Context, found: Found, event: EgressEvent, hasWaited = false) =>
  reportEgressOfRoom(there, event, { hasWaited, foreignFiles: foreignFiles(there, found) });

/** The files that the report names, or that were named while the egress waits, of organizations in other databases. */
export const foreignFiles = ({ shard }: Context, { contested }: Found) =>
  contested
    .filter((claim) => claim.kind === "file" && claim.shard !== shard)
    .map(({ key, organization_id }) => ({ storage_key: key, organization_id }));

export const waitingForCall = preparedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder
    .select()
    .from(livekitEgresses)
    .where(or(eq(livekitEgresses.room_sid, key), eq(livekitEgresses.room_name, key))),
);

/**
 * Brings egresses that have waited in the directory to their calls. One that was reported meanwhile stays as it is.
 *
 * @returns how many have found their call
 */
export async function takeWaiting(context: Context, waiting: WaitingEgress[]): Promise<number> {
  const { shards } = context;
  if (!shards) return 0;
  let taken = 0;
  const faults: unknown[] = [];
  for (const egress of waiting)
    try {
      const event = eventOf(egress);
      await inPlace(context, placeOfEvent(event), (there, found) => reportIn(there, found, event, true));
      await runAll(shards.directory, deleteTaken(egress));
      taken++;
    } catch (error) {
      if (!(error instanceof NoCallHere)) faults.push(error);
    }
  if (faults.length > 0) throw faults[0];
  return taken;
}

/** What LiveKit had said when it waited. */
function eventOf(egress: WaitingEgress): EgressEvent {
  const { status, error, is_stopped, ended_at, storage_key } = egress;
  return {
    egress_id: egress.egress_id,
    room_sid: egress.room_sid ?? "",
    room_name: egress.room_name ?? "",
    started_at: egress.started_at,
    report: {
      status: status as EgressReport["status"],
      is_stopped,
      ...(error !== null && { error }),
      ...(ended_at !== null && { ended_at }),
      ...(storage_key !== null && { storage_key }),
    },
    has_unusable_file: false,
  };
}

/** Unless LiveKit has said more meanwhile. */
const deleteTaken = preparedQuery(({ egress_id, updated_at }: Placeholders<WaitingEgress>) =>
  builder
    .delete(livekitEgresses)
    .where(and(eq(livekitEgresses.egress_id, egress_id), eq(livekitEgresses.updated_at, updated_at))),
);

/** The chore of the cron for the directory: egresses whose call was written after they had begun to wait. */
export async function takeWaitingEgresses(context: Context): Promise<number> {
  if (!context.shards || context.shard > 0) return 0;
  const limit = affordable(context, WAITING_EGRESSES_TAKEN, SUBREQUESTS_OF_EGRESS);
  const waiting = await runAll(context.db, waitingOfKnown({ limit }));
  spend(context, waiting.length * SUBREQUESTS_OF_EGRESS);
  return takeWaiting(context, waiting);
}

/** In any order: those that go on waiting are not always the first. */
const waitingOfKnown = preparedQuery(({ limit }: Placeholders<{ limit: number }>) => {
  const { room_sid, room_name } = livekitEgresses;
  const claimed = builder
    .select({ key: locations.key })
    .from(locations)
    .where(and(eq(locations.kind, "call"), sql`${locations.key} in (${room_sid}, ${room_name})`));
  const own = builder
    .select({ key: calls.key })
    .from(calls)
    .where(sql`${calls.key} in (${room_sid}, ${room_name})`);
  return builder
    .select()
    .from(livekitEgresses)
    .where(or(exists(claimed), exists(own)))
    .orderBy(sql`random()`)
    .limit(limit);
});
