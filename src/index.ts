import { app } from "./app.ts";
import { openContext } from "./context.ts";
import { logFault } from "./http/log.ts";
import { deleteOldCodes } from "./resources/authorization_codes/authorization_codes.service.ts";
import { requeueLostRows } from "./resources/bulk_invites/bulk_invites.processing.ts";
import { consumeBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { lapseExpiredInvites } from "./resources/invites/invites.service.ts";

export default {
  fetch: app.fetch,
  queue: consumeBulkInvites,
  async scheduled(_, env) {
    const context = openContext(env, Date.now());
    const chores = [requeueLostRows, lapseExpiredInvites, deleteOldCodes];
    const results = await Promise.allSettled(chores.map((chore) => chore(context)));
    for (const [n, result] of results.entries())
      if (result.status === "rejected") logFault({ chore: chores[n]?.name }, result.reason);
  },
} satisfies ExportedHandler<Env>;
