import { and, eq, exists, inArray, isNotNull, lte, notInArray, sql } from "drizzle-orm";
import { calls } from "../calls/calls/calls.table.ts";
import type { Context } from "../context.ts";
import { builder, jsonValues, type Placeholders, preparedQuery, runAll } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { type ChoreTurn, newTurn } from "../database/turns.ts";
import { log } from "../http/log.ts";
import { ROOM_SILENCE } from "../lifetimes.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import { endCalls, type Silence, selectSilentCalls } from "../results/silent_calls/silent_calls.chores.ts";
import * as tuning from "../tuning.ts";
import { askAboutEach, reportFaults, selectDueEgresses } from "./asking.ts";
import { connectLiveKit } from "./egress_api.ts";
import { toEgressEvent } from "./egress_info.ts";
import { reportEgressOfRoom } from "./egresses.ts";
import { livekitVisitors } from "./rooms.table.ts";

/**
 * LiveKit gives up on an event after half a minute. So this asks LiveKit about egresses that seem to be running still,
 * and reports the answers. An egress that LiveKit does not know is left unchanged: it may belong to another backend, or
 * LiveKit has forgotten it, and only the platform can report how it ended.
 */
export async function recoverLostEgresses(context: Context): Promise<number> {
  const { db, settings, now } = context;
  const livekit = connectLiveKit(settings);
  if (!livekit) return 0;
  const deadline = Date.now() + tuning.LIVEKIT_TIME_LIMIT;
  const faults: unknown[] = [];
  let checked = 0;
  let isSomeLeft = true;
  while (isSomeLeft && checked < tuning.EGRESSES_CHECKED && Date.now() < deadline) {
    const limit = tuning.EGRESSES_CHECKED - checked;
    const silent = await runAll(db, silentEgresses({ ...newTurn(tuning.OUTWARD_SHARE, limit), now }));
    const unknown: number[] = [];
    const { asked, faults: found } = await askAboutEach(
      silent,
      async ({ id, egress_id, organization_slug, status }) => {
        const info = await livekit.findEgress(egress_id);
        const event = info && toEgressEvent(info, now);
        // The id may belong to an egress of another organization.
        if (event?.organization_slug !== organization_slug) {
          unknown.push(id);
          return log("egress_unknown_to_livekit", { egress_id: id });
        }
        const reported = await reportEgressOfRoom(context, event);
        if (reported.file_fault) log("livekit_file_not_used", { egress_id: id, reason: reported.file_fault });
        if (reported.status !== status) log("egress_recovered", { egress_id: id, status: reported.status });
      },
    );
    const ids = JSON.stringify(asked.map(({ id }) => id));
    if (asked.length > 0)
      await runAll(db, scheduleChecks({ now, checked: ids, unknown: JSON.stringify(unknown) }));
    checked += asked.length;
    faults.push(...found);
    const isWhole = asked.length === silent.length && found.length === 0;
    isSomeLeft = isWhole && silent.length >= tuning.OUTWARD_SHARE;
  }
  reportFaults(faults);
  return checked;
}

/**
 * A crashed LiveKit server does not report that its rooms are gone. So this asks LiveKit for all open rooms, in a
 * single request, and ends the silent calls of rooms that are not open.
 */
export async function endClosedRooms(context: Context): Promise<number> {
  const livekit = connectLiveKit(context.settings);
  if (!livekit) return 0;
  const silence = { since: context.now - ROOM_SILENCE, open_rooms: "[]" };
  const [silent] = await runAll(context.db, silentRooms({ ...newTurn(1, 1), ...silence }));
  if (!silent) return 0;
  try {
    const open_rooms = JSON.stringify(await livekit.listRooms());
    return await endCalls(context, (turn) => silentRooms({ ...silence, ...turn, open_rooms }));
  } catch (error) {
    reportFaults([error]);
    return 0;
  }
}

const { organization_id, room_sid } = livekitVisitors;

/** Silent calls of LiveKit's rooms, except of the `open_rooms`: a JSON array of sids. */
const silentRooms = preparedQuery((silence: Placeholders<Silence & { open_rooms: string }>) =>
  selectSilentCalls(
    silence,
    and(
      exists(selectColumn(room_sid, eq(organization_id, calls.organization_id), eq(room_sid, calls.key))),
      notInArray(calls.key, jsonValues(silence.open_rooms)),
    ),
  ),
);

const silentEgresses = preparedQuery((due: Placeholders<ChoreTurn>) =>
  selectDueEgresses(egresses.check_at, isNotNull(egresses.check_at), due),
);

/** Schedules the next check of the checked egresses, unless they were reported in the meantime. */
const scheduleChecks = preparedQuery(
  ({ now, checked, unknown }: Placeholders<{ now: number; checked: string; unknown: string }>) => {
    const isUnknown = inArray(egresses.id, jsonValues(unknown));
    const silence = sql`${now} - ${egresses.updated_at}`;
    return builder
      .update(egresses)
      .set({
        check_at: sql`${now} + iif(${isUnknown} or ${silence} > ${tuning.EGRESS_LONG_SILENCE}, ${silence}, ${tuning.EGRESS_CHECK_PAUSE})`,
      })
      .where(and(inArray(egresses.id, jsonValues(checked)), lte(egresses.check_at, now)));
  },
);
