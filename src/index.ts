import { app } from "./app.ts";
import { openContext } from "./context.ts";
import { logFault } from "./http/log.ts";
import { deleteOldCodes } from "./resources/authorization_codes/authorization_codes.service.ts";
import { erasePersonalData, requeueLostRows } from "./resources/bulk_invites/bulk_invites.chores.ts";
import { consumeBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { deleteOldEvents } from "./resources/events/events.service.ts";
import { lapseExpiredInvites } from "./resources/invites/invites.service.ts";

export default {
  fetch: app.fetch,
  queue: consumeBulkInvites,
  async scheduled(_, env) {
    const chores = [requeueLostRows, erasePersonalData, lapseExpiredInvites, deleteOldCodes, deleteOldEvents];
    const results = await Promise.allSettled(
      chores.map(async (chore) => chore(openContext(env, Date.now()))),
    );
    for (const [n, result] of results.entries())
      if (result.status === "rejected") logFault({ chore: chores[n]?.name }, result.reason);
  },
} satisfies ExportedHandler<Env>;
