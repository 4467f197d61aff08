import type { Context } from "../context.ts";
import { endCallsOfClosedRooms, hasSilentRooms } from "../results/silent_calls/silent_calls.chores.ts";
import { reportFaults } from "./asking.ts";
import { connectLiveKit } from "./egress_api.ts";

/**
 * A crashed LiveKit server does not report that its rooms are gone. So this asks LiveKit for all open rooms, in a
 * single request, and ends the silent calls of rooms that are not open.
 *
 * @returns the number of calls ended
 */
export async function endClosedRooms(context: Context): Promise<number> {
  const livekit = connectLiveKit(context.settings);
  if (!livekit || !(await hasSilentRooms(context))) return 0;
  try {
    return await endCallsOfClosedRooms(context, await livekit.listRooms());
  } catch (error) {
    reportFaults([error]);
    return 0;
  }
}
