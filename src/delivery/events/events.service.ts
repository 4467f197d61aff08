import type { ClientContext, Context } from "../../context.ts";
import { type Database, primaryOf } from "../../database/database.ts";
import { eventTypesOf } from "../../database/enums.ts";
import { inTime } from "../../database/in_time.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { DATABASE_TIMEOUT } from "../../tuning.ts";
import { advance, type Found, mergeEvents, unreadAfter, writeEventPositions } from "./events.positions.ts";
import type { EventsQuery, PlatformEvent, PlatformEventsQuery } from "./events.schemas.ts";
import * as sql from "./events.sql.ts";

export async function listEvents({ db, caller }: ClientContext, { type, after, per_page }: EventsQuery) {
  const organization_id = administeredOrganization(caller);
  const list = (type && sql.eventsByTypeName.get(type)) ?? sql.allEvents;
  const page = await runAll(db, list({ organization_id, after, limit: per_page }));
  return { events: page, next_after: page.at(-1)?.id ?? after };
}

/**
 * If one database does not answer, the request fails: an organization's events must not come before those left behind by a
 * move.
 */
export async function listEventsOfAllOrganizations(
  context: Context,
  { type, after, per_page }: PlatformEventsQuery,
): Promise<{ events: PlatformEvent[]; next_after: string }> {
  const unread = JSON.stringify(unreadAfter(after));
  const next = type
    ? sql.unreadEventsOfTypes({ unread, types: JSON.stringify(eventTypesOf([type])), limit: per_page })
    : sql.unreadEvents({ unread, limit: per_page });
  const state = sql.stateOfEvents({ positions: JSON.stringify(after) });
  const ask = async (db: Database): Promise<Found<PlatformEvent>> => {
    const [[known], events] = await runBatch(db, [state, next]);
    return { events, newest: known?.newest ?? null, read: known?.read ?? [] };
  };
  const found = await askEachDatabase(context, ask);
  const events = mergeEvents(found, per_page);
  return { events, next_after: writeEventPositions(advance(after, found, events)) };
}

/** The primaries, because replicas lag differently. */
function askEachDatabase<Answer>({ db, shards }: Context, ask: (db: Database) => Promise<Answer>) {
  if (!shards) return Promise.all([ask(primaryOf(db))]);
  return Promise.all(
    shards.numbers.map((shard) => inTime(ask(primaryOf(shards.enter(shard).db)), DATABASE_TIMEOUT)),
  );
}
