import type { Context } from "../context.ts";
import { runAll } from "../database/queries.ts";
import { findInTurns } from "../database/turns.ts";
import { log } from "../http/log.ts";
import { scheduleChecks, silentEgresses } from "../resources/egresses/egresses.sql.ts";
import { EGRESSES_CHECKED, LIVEKIT_CONNECTIONS, LIVEKIT_TIME_LIMIT } from "../tuning.ts";
import { connectLiveKit, LiveKitUnavailable } from "./egress_api.ts";
import { toEgressEvent } from "./egress_info.ts";
import { reportEgressOfRoom } from "./egresses.ts";

/**
 * LiveKit gives up on an event after half a minute. So this asks it about the egresses that seem to run on, and reports
 * what it says. An egress that it does not know stays as it is: it may be another backend's. Or LiveKit has forgotten
 * it, and only the platform can say how it ended.
 *
 * @returns how many it asked about
 */
export async function recoverLostEgresses(context: Context): Promise<number> {
  const { db, settings, now } = context;
  const findEgress = await connectLiveKit(settings);
  if (!findEgress) return 0;
  const started = Date.now();
  const waiting = await findInTurns(EGRESSES_CHECKED, (turn) => runAll(db, silentEgresses({ ...turn, now })));
  if (waiting.length === 0) return 0;
  const checked: number[] = [];
  const unknown: number[] = [];
  const faults: unknown[] = [];

  const check = async ({ id, egress_id, organization_slug, status }: (typeof waiting)[number]) => {
    const info = await findEgress(egress_id);
    const event = info && toEgressEvent(info, now);
    // One of another organization has the same id.
    if (event?.organization_slug !== organization_slug) {
      unknown.push(id);
      return log("egress_unknown_to_livekit", { egress_id: id });
    }
    const reported = await reportEgressOfRoom(context, event);
    if (reported.file_fault) log("livekit_file_not_used", { egress_id: id, reason: reported.file_fault });
    if (reported.status !== status) log("egress_recovered", { egress_id: id, status: reported.status });
  };

  /** The next to check. None if LiveKit is slow, or answers nobody: then the next run goes on. */
  const next = () => {
    const isOver = Date.now() - started > LIVEKIT_TIME_LIMIT || faults.length >= LIVEKIT_CONNECTIONS;
    return isOver ? undefined : waiting.shift();
  };

  const checkOneByOne = async () => {
    for (let egress = next(); egress; egress = next()) {
      checked.push(egress.id);
      await check(egress).catch((error) => faults.push(error));
    }
  };

  await Promise.all(Array.from({ length: LIVEKIT_CONNECTIONS }, checkOneByOne));
  const lists = { checked: JSON.stringify(checked), unknown: JSON.stringify(unknown) };
  await runAll(db, scheduleChecks({ now, ...lists }));
  logUnavailability(faults.filter((fault) => fault instanceof LiveKitUnavailable));
  const ours = faults.find((fault) => !(fault instanceof LiveKitUnavailable));
  if (ours) throw ours;
  return checked.length;
}

/** One line for a run: when LiveKit is down, it is down for all. */
function logUnavailability([first, ...others]: LiveKitUnavailable[]) {
  if (!first) return;
  log("livekit_unavailable", { reason: first.fault, status: first.status, egresses: 1 + others.length });
}
