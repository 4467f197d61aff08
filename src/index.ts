import { app } from "./app.ts";
import { deleteOldCodes } from "./authorization_codes/authorization_codes.service.ts";
import { requeueLostRows } from "./bulk_invites/bulk_invites.processing.ts";
import { consumeBulkInvites } from "./bulk_invites/bulk_invites.queue.ts";
import { openContext } from "./context.ts";
import { lapseExpiredInvites } from "./invites/invites.service.ts";

export default {
  fetch: app.fetch,
  queue: consumeBulkInvites,
  async scheduled(_, env) {
    const context = openContext(env, Date.now());
    await requeueLostRows(context);
    await lapseExpiredInvites(context);
    await deleteOldCodes(context);
  },
} satisfies ExportedHandler<Env>;
