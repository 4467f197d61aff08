import { and, eq, exists, or, sql } from "drizzle-orm";
import { affordable, type Context, spend } from "../context.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../database/queries.ts";
import { calls, type LocationKind, livekitEgresses, locations } from "../database/schema.ts";
import { ApiError } from "../http/errors.ts";
import { logFault } from "../http/log.ts";
import { SUBREQUESTS_OF_EGRESS, WAITING_EGRESSES_TAKEN } from "../limits.ts";
import type { EgressEvent } from "../livekit/egress_info.ts";
import { NoCallHere, reportEgressOfRoom, waitingEgress } from "../livekit/egresses.ts";
import type { VisitEvent } from "../livekit/events.ts";
import { reportVisit } from "../livekit/visits.ts";
import type { CallReport } from "../resources/calls/calls.merge.ts";
import { callOwnerNotMember } from "../resources/calls/calls.refusals.ts";
import type { ReportedCall } from "../resources/calls/calls.schemas.ts";
import { reportCall } from "../resources/calls/calls.service.ts";
import { egressOfAnotherCall } from "../resources/egresses/egresses.refusals.ts";
import type { Egress, EgressReport } from "../resources/egresses/egresses.schemas.ts";
import { reportEgress } from "../resources/egresses/egresses.service.ts";
import { askingAgain, type Found, inPlace, type Verb } from "./in_place.ts";
import type { WaitingEgress } from "./places.ts";
import { placeOfEgressReport, placeOfReport } from "./report_places.ts";

/*
 * The reports that bring new keys: each key is claimed in the directory before its row is written in a shard. A claim has the
 * time at which it is made: the body may have taken a minute to arrive.
 */

type Outcome = Awaited<ReturnType<typeof reportEgressOfRoom>>;

export const reportCallInPlace = (context: Context, key: string, report: CallReport): Promise<ReportedCall> =>
  inPlace(
    context,
    () => placeOfReport(key, report.waiting_room_slug ?? "", Date.now()),
    takingWhatWaits((there, found) =>
      reportCall(there, key, report).catch(sayingIfContested(found, "call", callOwnerNotMember)),
    ),
  );

/** An event of a room whose metadata says whose visit it is. */
export const reportVisitInPlace = (context: Context, visit: VisitEvent): Promise<ReportedCall> =>
  inPlace(
    context,
    () => placeOfReport(visit.room_sid, visit.waiting_room_slug, Date.now()),
    takingWhatWaits((there) => reportVisit(there, visit)),
    // A call that is known by the room's name has not the key that the place names.
    ({ key }) => key === visit.room_sid,
  );

export function reportEgressInPlace(
  context: Context,
  egress_id: string,
  report: EgressReport,
): Promise<Egress> {
  const { call_key = "", storage_key } = report;
  const names = { egress_id, call_key, other_key: "", storage_key: storage_key ?? "" };
  return inPlace(
    context,
    () => placeOfEgressReport({ ...names, now: Date.now() }),
    (there, found) =>
      reportEgress(there, egress_id, report, foreignFiles(there, found)[0]?.organization_id).catch(
        sayingIfContested(found, "egress", egressOfAnotherCall),
      ),
  );
}

/** An event whose call nobody knows waits in the directory. One that names the call brings what has waited with it. */
export const reportEgressEventInPlace = (context: Context, event: EgressEvent): Promise<Outcome> =>
  askingAgain(() => reportOrWait(context, event));

async function reportOrWait(context: Context, event: EgressEvent): Promise<Outcome> {
  const { shards } = context;
  const { egress_id, room_sid, room_name } = event;
  try {
    return await inPlace(context, placeOfEvent(event), async (there, found) => {
      if (there.shard === 0 || found.waiting.length === 0) return reportIn(there, found, event);
      await takeWaiting(
        there,
        found.waiting.map((egress) => ({
          ...egress,
          room_sid: room_sid || egress.room_sid,
          room_name: room_name || egress.room_name,
        })),
      );
      return reportIn(shards?.enter(there.shard) ?? there, found, event);
    });
  } catch (error) {
    if (!(error instanceof NoCallHere && shards)) throw error;
    const outcome = await reportEgressOfRoom(shards.enter(0), event);
    // The call was claimed. Its report may have looked for what waits before this did.
    await takeWaiting(context, await runAll(shards.directory, waitingEgress({ egress_id })));
    return outcome;
  }
}

const placeOfEvent =
  ({ egress_id, room_sid, room_name, report }: EgressEvent) =>
  () => {
    const storage_key = report.storage_key ?? "";
    const names = { egress_id, call_key: room_sid, other_key: room_name, storage_key };
    return placeOfEgressReport({ ...names, now: Date.now() });
  };

const reportIn = (there: Context, found: Found, event: EgressEvent, hasWaited = false) =>
  reportEgressOfRoom(there, event, { hasWaited, foreignFiles: foreignFiles(there, found) });

/** The files that the report names, or that were named while the egress waits, of organizations in other databases. */
const foreignFiles = ({ shard }: Context, { contested }: Found) =>
  contested
    .filter((claim) => claim.kind === "file" && claim.shard !== shard)
    .map(({ key, organization_id }) => ({ storage_key: key, organization_id }));

/** Where a key is another organization's, its shard knows nothing of what the report names. So the refusal says the cause. */
const sayingIfContested =
  ({ contested }: Found, kind: LocationKind, refusal: () => ApiError) =>
  (error: unknown): never => {
    const isContested = contested.some(
      (claim) => claim.kind === kind && claim.shard !== claim.claimant_shard,
    );
    throw isContested && error instanceof ApiError && error.status === 422 ? refusal() : error;
  };

/** After the first report of a call, the egresses that have waited for it in the directory. */
const takingWhatWaits =
  (verb: Verb<ReportedCall>): Verb<ReportedCall> =>
  async (there, found) => {
    const call = await verb(there, found);
    const { shard, shards, now } = there;
    if (!shards || shard === 0 || call.created_at !== now) return call;
    try {
      const waiting = await runAll(shards.directory, waitingForCall({ key: call.key }));
      await takeWaiting(there, waiting);
      // The rest of the request is about the shard again.
      if (waiting.length > 0) shards.enter(shard);
    } catch (error) {
      // The cron takes them.
      logFault({ chore: "takeWaitingEgresses" }, error);
    }
    return call;
  };

const waitingForCall = preparedQuery(({ key }: Placeholders<{ key: string }>) =>
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
async function takeWaiting(context: Context, waiting: WaitingEgress[]): Promise<number> {
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
