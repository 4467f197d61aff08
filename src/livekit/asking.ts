import { asc, eq, lte, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { columnAs } from "../database/expressions.ts";
import { builder, type Placeholders } from "../database/queries.ts";
import { type ChoreTurn, isInTurn } from "../database/turns.ts";
import { log } from "../http/log.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";
import { egresses } from "../results/egresses/egresses.table.ts";
import { LIVEKIT_CONNECTIONS, LIVEKIT_TIME_LIMIT } from "../tuning.ts";
import { LiveKitUnavailable } from "./egress_api.ts";

/** @param indexed must repeat the WHERE of the index on `time`, or SQLite does not use it */
export const selectDueEgresses = (
  time: SQLiteColumn,
  indexed: SQL | undefined,
  due: Placeholders<ChoreTurn>,
) =>
  builder
    .select({
      id: egresses.id,
      egress_id: egresses.egress_id,
      status: egresses.status,
      organization_slug: columnAs(organizations.slug, "organization_slug"),
    })
    .from(egresses)
    .innerJoin(organizations, eq(organizations.id, egresses.organization_id))
    .where(isInTurn(egresses, { time, where: lte(time, due.now), indexed }, due))
    .orderBy(asc(time));

/** Asks about a few items at the same time. Stops early if LiveKit is slow or does not answer: the next run continues. */
export async function askAboutEach<Item>(items: Item[], ask: (item: Item) => Promise<void>) {
  const deadline = Date.now() + LIVEKIT_TIME_LIMIT;
  const waiting = [...items];
  const asked: Item[] = [];
  const failed: Item[] = [];
  const faults: unknown[] = [];

  const askOneByOne = async () => {
    while (Date.now() <= deadline && faults.length < LIVEKIT_CONNECTIONS) {
      const item = waiting.shift();
      if (!item) return;
      asked.push(item);
      try {
        await ask(item);
      } catch (error) {
        failed.push(item);
        faults.push(error);
      }
    }
  };

  await Promise.all(Array.from({ length: LIVEKIT_CONNECTIONS }, askOneByOne));
  return { asked, failed, faults };
}

/** Logs one line for all of LiveKit's errors in a run, and throws the first other error. */
export function reportFaults(faults: unknown[]): void {
  const [first, ...others] = faults.filter((fault) => fault instanceof LiveKitUnavailable);
  if (first) {
    const { fault: reason, status } = first;
    log("livekit_unavailable", { reason, status, egresses: 1 + others.length });
  }
  const ours = faults.find((fault) => !(fault instanceof LiveKitUnavailable));
  if (ours) throw ours;
}
