import { and, eq, exists, notInArray } from "drizzle-orm";
import { calls } from "../calls/calls/calls.table.ts";
import type { Context } from "../context.ts";
import { jsonValues, type Placeholders, preparedQuery, runAll } from "../database/queries.ts";
import { selectColumn } from "../database/selects.ts";
import { ROOM_SILENCE } from "../lifetimes.ts";
import { endCalls, type Silence, selectSilentCalls } from "../results/silent_calls/silent_calls.chores.ts";
import { reportFaults } from "./asking.ts";
import { connectLiveKit } from "./egress_api.ts";
import { livekitVisitors } from "./rooms.table.ts";

/**
 * A crashed LiveKit server does not report that its rooms are gone. So this asks LiveKit for all open rooms, in a
 * single request, and ends the silent calls of rooms that are not open.
 *
 * @returns the number of calls ended
 */
export async function endClosedRooms(context: Context): Promise<number> {
  const livekit = connectLiveKit(context.settings);
  if (!livekit) return 0;
  const silence = { since: context.now - ROOM_SILENCE, open_rooms: "[]" };
  const [silent] = await runAll(context.db, silentRooms({ after: 0, share: 1, portion: 1, ...silence }));
  if (!silent) return 0;
  try {
    const open_rooms = JSON.stringify(await livekit.listRooms());
    return await endCalls(context, (turn) => silentRooms({ ...silence, ...turn, open_rooms }));
  } catch (error) {
    reportFaults([error]);
    return 0;
  }
}

/** Silent calls of LiveKit's rooms, except of the `open_rooms`: a JSON array of sids. */
const silentRooms = preparedQuery((silence: Placeholders<Silence & { open_rooms: string }>) =>
  selectSilentCalls(
    silence,
    and(
      exists(
        selectColumn(
          livekitVisitors.room_sid,
          eq(livekitVisitors.organization_id, calls.organization_id),
          eq(livekitVisitors.room_sid, calls.key),
        ),
      ),
      notInArray(calls.key, jsonValues(silence.open_rooms)),
    ),
  ),
);
