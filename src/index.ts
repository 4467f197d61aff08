import { app } from "./app.ts";
import { type Context, openContext } from "./context.ts";
import { log, logFault } from "./http/log.ts";
import { deleteOldLiveKitEgresses } from "./livekit/egresses.ts";
import { recoverLostEgresses } from "./livekit/recovery.ts";
import { deleteOldCodes } from "./resources/authorization_codes/authorization_codes.service.ts";
import { erasePersonalData, requeueLostRows } from "./resources/bulk_invites/bulk_invites.chores.ts";
import { consumeBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { deleteOldRecordings } from "./resources/egresses/egresses.deletion.ts";
import { lapseExpiredInvites } from "./resources/invites/invites.service.ts";
import { deleteOldSoapNotes } from "./resources/soap_notes/soap_notes.deletion.ts";
import { moveOldLines } from "./resources/transcripts/transcripts.chores.ts";
import { deleteOldTranscripts } from "./resources/transcripts/transcripts.deletion.ts";

/** The work of the cron. Each chore returns how many rows it has worked off: the log has that under its name. */
const chores: Record<string, (context: Context) => Promise<number>> = {
  requeueLostRows,
  erasePersonalData,
  lapseExpiredInvites,
  deleteOldCodes,
  deleteOldTranscripts,
  deleteOldSoapNotes,
  deleteOldRecordings,
  moveOldLines,
  deleteOldLiveKitEgresses,
  recoverLostEgresses,
};

export default {
  fetch: app.fetch,
  queue: consumeBulkInvites,
  async scheduled(_, env) {
    const started = Date.now();
    const done = await Promise.all(
      Object.entries(chores).map(async ([chore, run]) => {
        try {
          return [chore, await run(openContext(env, started))];
        } catch (error) {
          logFault({ chore }, error);
          return [chore, "failed"];
        }
      }),
    );
    // Also where there was nothing to do: so a cron that no longer runs is noticed by its silence.
    log("cron", { duration_ms: Date.now() - started, ...Object.fromEntries(done) });
  },
} satisfies ExportedHandler<Env>;
