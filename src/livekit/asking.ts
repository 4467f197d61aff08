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

const dueColumns = {
  id: egresses.id,
  egress_id: egresses.egress_id,
  status: egresses.status,
  organization_slug: columnAs(organizations.slug, "organization_slug"),
};

/**
 * Selects egresses to ask LiveKit about: a share per organization, those that have been due longest first.
 *
 * @param indexed must repeat the WHERE of the index on `time`, or SQLite does not use it
 */
export const selectDueEgresses = (
  time: SQLiteColumn,
  indexed: SQL | undefined,
  due: Placeholders<ChoreTurn>,
) =>
  builder
    .select(dueColumns)
    .from(egresses)
    .innerJoin(organizations, eq(organizations.id, egresses.organization_id))
    .where(isInTurn(egresses, { time, where: lte(time, due.now), indexed }, due))
    .orderBy(asc(time));

/**
 * Asks LiveKit about each item, a few at the same time. Stops early if LiveKit is slow or does not answer: the next run
 * continues.
 *
 * @returns the items that were asked about, those of them that failed, and the errors
 */
export async function askAboutEach<Item>(items: Item[], ask: (item: Item) => Promise<void>) {
  const started = Date.now();
  const waiting = [...items];
  const asked: Item[] = [];
  const failed: Item[] = [];
  const faults: unknown[] = [];

  const next = () => {
    const isOver = Date.now() - started > LIVEKIT_TIME_LIMIT || faults.length >= LIVEKIT_CONNECTIONS;
    return isOver ? undefined : waiting.shift();
  };

  const askOneByOne = async () => {
    for (let item = next(); item; item = next()) {
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
