import { and, inArray, isNotNull, not, sql } from "drizzle-orm";
import type { Context } from "../context.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  runAll,
  runBatch,
} from "../database/queries.ts";
import { quietSince } from "../database/quiet.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { type ChoreTurn, newTurn } from "../database/turns.ts";
import { log, logFault } from "../http/log.ts";
import { platformRoutes } from "../http/platform_api.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import { EGRESS_CHECK_PAUSE, EGRESSES_CHECKED, OUTWARD_SHARE } from "../tuning.ts";
import { askAboutEach, reportFaults, selectDueEgresses } from "./asking.ts";
import { connectLiveKit } from "./egress_api.ts";

/** Stops the recordings that a report brings together with a refusal. The cron retries failures. */
export const stopAfterReport = (context: Context): Promise<unknown> =>
  stopRefusedEgresses(context).catch((error) => logFault({ chore: "stopRefusedEgresses" }, error));

/** Stops the egresses that triggers have marked because somebody on the call refused (egresses.triggers.sql). */
export async function stopRefusedEgresses({ db, now, settings }: Context): Promise<number> {
  const livekit = connectLiveKit(settings);
  if (!livekit) return 0;
  const turn = { ...newTurn(OUTWARD_SHARE, EGRESSES_CHECKED), now };
  const [[quiet], due] = await runBatch(db, [quietSince({}), dueEgresses(turn)]);
  if (quiet || due.length === 0) return 0;
  const { asked, failed, faults } = await askAboutEach(due, async ({ id, egress_id, organization_slug }) => {
    const info = await livekit.findEgress(egress_id);
    // The egress has ended, belongs to another backend, or its id belongs to another organization's egress.
    const isRunning = info && /^EGRESS_(STARTING|ACTIVE)$|^unknown$/.test(info.status);
    if (!isRunning || organizationSlugOf(info.roomName) !== organization_slug) return;
    await livekit.stopEgress(egress_id);
    log("egress_stopped", { egress_id: id });
  });
  const idsOf = (some: typeof due) => JSON.stringify(some.map(({ id }) => id));
  await runAll(db, noteStops({ asked: idsOf(asked), failed: idsOf(failed), now }));
  reportFaults(faults);
  return asked.length;
}

const dueEgresses = preparedQuery((due: Placeholders<ChoreTurn>) => {
  const { stop_due_at, is_stopped } = egresses;
  return selectDueEgresses(stop_due_at, and(isNotNull(stop_due_at), not(is_stopped)), due);
});

/** Leaves failed egresses to the next run of the cron. `asked` and `failed` are JSON arrays of ids. */
const noteStops = preparedQuery((of: Placeholders<{ asked: string; failed: string; now: number }>) =>
  builder
    .update(egresses)
    .set({
      stop_due_at:
        sql`iif(${inArray(egresses.id, jsonValues(of.failed))}, ${of.now} + ${EGRESS_CHECK_PAUSE}, null)`.inlineParams(),
    })
    .where(inArray(egresses.id, jsonValues(of.asked))),
);

export const stopsPlatform = platformRoutes().on(
  "PUT",
  ["/organizations/:organization_id/calls/:key", "/organizations/:organization_id/egresses/:egress_id"],
  async (c, next) => {
    await next();
    if (c.res.ok) c.executionCtx.waitUntil(stopAfterReport(c.var.context));
  },
);
