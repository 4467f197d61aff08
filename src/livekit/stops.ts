import { and, asc, eq, inArray, isNotNull, isNull, lte, not, or, sql } from "drizzle-orm";
import { type CallKey, callIdByKey } from "../calls/calls/calls.sql.ts";
import type { Context } from "../context.ts";
import { columnAs, hasValues } from "../database/expressions.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type RowsOf,
  runAll,
  runBatch,
  type Values,
} from "../database/queries.ts";
import { quietSince } from "../database/quiet.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { isInLimitedTurn, type LimitedTurn } from "../database/turns.ts";
import { log, logFault } from "../http/log.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";
import { type EgressKey, hasEgressKey } from "../results/egresses/egresses.sql.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import { EGRESSES_CHECKED, OUTWARD_SHARE } from "../tuning.ts";
import { askAboutEach, reportFaults } from "./asking.ts";
import { connectLiveKit } from "./egress_api.ts";

/*
 * A refusal stops the recording: triggers mark the egresses to stop (egresses.triggers.sql), and the service asks
 * LiveKit to stop them.
 */

/**
 * Stops the marked egresses of a call, or one egress, after a report of it: any report may have brought a refusal and a
 * recording together. The cron retries failures.
 */
export async function stopRefused(context: Context, reported: CallKey | EgressKey): Promise<void> {
  if (!context.settings.LIVEKIT_URL) return;
  try {
    // No call has an empty key, and no egress an empty id.
    const named = { key: "", egress_id: "", ...reported };
    const [[quiet], due] = await runBatch(context.db, [quietSince({}), dueEgressesOf(named)]);
    if (!quiet) await stop(context, due);
  } catch (error) {
    logFault({ organization_id: reported.organization_id }, error);
  }
}

/**
 * Stops the egresses that are still marked.
 *
 * @returns the number of egresses asked about
 */
export async function stopRefusedEgresses(context: Context): Promise<number> {
  const { db, now, settings } = context;
  if (!settings.LIVEKIT_URL) return 0;
  return stop(context, await runAll(db, dueEgresses({ share: OUTWARD_SHARE, limit: EGRESSES_CHECKED, now })));
}

async function stop({ db, settings, now }: Context, due: DueEgress[]): Promise<number> {
  const livekit = connectLiveKit(settings);
  if (!livekit || due.length === 0) return 0;
  const { asked, failed, faults } = await askAboutEach(due, async ({ id, egress_id, organization_slug }) => {
    const info = await livekit.findEgress(egress_id);
    // The egress has ended, belongs to another backend, or its id belongs to another organization's egress.
    if (!info || !isRunning(info) || organizationSlugOf(info.roomName) !== organization_slug) return;
    await livekit.stopEgress(egress_id);
    log("egress_stopped", { egress_id: id });
  });
  const idsOf = (some: DueEgress[]) => JSON.stringify(some.map(({ id }) => id));
  await runAll(db, noteStops({ asked: idsOf(asked), failed: idsOf(failed), now }));
  reportFaults(faults);
  return asked.length;
}

const isRunning = ({ status }: { status: string }) => /^EGRESS_(STARTING|ACTIVE)$|^unknown$/.test(status);

const dueColumns = {
  id: egresses.id,
  egress_id: egresses.egress_id,
  organization_slug: columnAs(organizations.slug, "organization_slug"),
};

const selectDue = () =>
  builder
    .select(dueColumns)
    .from(egresses)
    .innerJoin(organizations, eq(organizations.id, egresses.organization_id));

type DueEgress = RowsOf<[ReturnType<typeof dueEgressesOf>]>[0][number];

/** Must repeat the partial index's WHERE, or SQLite does not use the index. */
const isDue = and(isNotNull(egresses.stop_due_at), not(egresses.is_stopped));

/** True for egresses of a room whose call has not been reported yet. */
const waitsForCall = ({ organization_id, key }: Values<CallKey>) =>
  and(hasValues(egresses, { organization_id, room_sid: key }), isNull(egresses.call_id));

const dueEgressesOf = preparedQuery((reported: Placeholders<CallKey & EgressKey>) =>
  selectDue()
    .where(
      and(
        or(eq(egresses.call_id, callIdByKey(reported)), waitsForCall(reported), hasEgressKey(reported)),
        isDue,
      ),
    )
    .orderBy(asc(egresses.id)),
);

const dueEgresses = preparedQuery((due: Placeholders<LimitedTurn & { now: number }>) => {
  const { stop_due_at: time } = egresses;
  const rows = { time, where: lte(time, due.now), indexed: isDue };
  return selectDue()
    .where(isInLimitedTurn(egresses, rows, due))
    .orderBy(asc(time));
});

/** Moves failed egresses to the end of the queue. `asked` and `failed` are JSON arrays of ids. */
const noteStops = preparedQuery((of: Placeholders<{ asked: string; failed: string; now: number }>) =>
  builder
    .update(egresses)
    .set({ stop_due_at: sql`iif(${inArray(egresses.id, jsonValues(of.failed))}, ${of.now}, null)` })
    .where(inArray(egresses.id, jsonValues(of.asked))),
);
