import type { Context } from "../context.ts";
import { runAll } from "../database/queries.ts";
import type { LocationKind } from "../database/schema.ts";
import { ApiError } from "../http/errors.ts";
import { logFault } from "../http/log.ts";
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
import { placeOfEgressReport, placeOfReport } from "./report_places.ts";
import { foreignFiles, placeOfEvent, reportIn, takeWaiting, waitingForCall } from "./waiting_egresses.ts";

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
    (there, found) => {
      const foreign = foreignFiles(there, found).find((file) => file.storage_key === storage_key);
      return reportEgress(there, egress_id, report, foreign?.organization_id).catch(
        sayingIfContested(found, "egress", egressOfAnotherCall),
      );
    },
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
