import { inTime } from "../database/in_time.ts";
import { type DatabaseState, databaseState } from "../database/migrated.ts";
import { envOfShard, isSharded, shardsOf } from "../database/shards.ts";
import { mailerOf } from "../mail/mail.ts";
import { readSettings, requireOwnSecrets, SettingsError } from "../settings.ts";
import { DATABASE_TIMEOUT, HEALTH_KNOWN_FOR } from "../tuning.ts";
import { SECOND } from "../units.ts";
import { ApiError } from "./errors.ts";
import { newHono } from "./hono.ts";
import { logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";
import { waitUntil } from "./look_again.ts";

export const notReady = (reason: RefusalReason<"health">, where = "") =>
  new ApiError(503, "not_ready", `The service is not ready${where}`, { reason });

type Fault = Exclude<RefusalReason<"health">, "settings_at_fault">;

/** undefined: the database could not be reached. */
const knownStates = new WeakMap<D1Database, { at: number; state: DatabaseState | undefined }>();

const askedSince = new WeakMap<D1Database, number>();

const isLately = (at: number | undefined, time: number) =>
  at !== undefined && Math.abs(Date.now() - at) < time;

const isKnown = (DB: D1Database) => isLately(knownStates.get(DB)?.at, HEALTH_KNOWN_FOR);

/** True for one request at a time. An earlier request without a finding by now was cancelled. */
function mayAsk(DB: D1Database): boolean {
  if (isLately(askedSince.get(DB), DATABASE_TIMEOUT + SECOND)) return false;
  askedSince.set(DB, Date.now());
  return true;
}

async function findState(env: Env): Promise<DatabaseState | undefined> {
  const { DB } = env;
  // Anybody can send this request, so concurrent requests share one query to the database.
  let asks = false;
  await waitUntil(() => {
    asks = !isKnown(DB) && mayAsk(DB);
    return asks || isKnown(DB);
  });
  if (!asks) return knownStates.get(DB)?.state;
  const answer = databaseState(DB, shardsOf(env));
  const state = await (isSharded(env) ? inTime(answer, DATABASE_TIMEOUT) : answer).catch(() => undefined);
  knownStates.set(DB, { at: Date.now(), state });
  askedSince.delete(DB);
  return state;
}

/** @param directory undefined if it cannot say which id ranges it has assigned */
function faultOfShard(
  shard: number,
  state: DatabaseState | undefined,
  directory: DatabaseState | undefined,
): Fault | undefined {
  if (!state) return "database_unreachable";
  if (!state.isUpToDate) return "migrations_missing";
  if (shard > 0 && state.range === null) return "range_missing";
  const expectedRange = directory ? (directory.ranges[shard] ?? null) : state.range;
  const isOther = state.range !== expectedRange || (state.shard !== null && state.shard !== shard);
  return isOther ? "wrong_database" : undefined;
}

function faultsOfShards(states: Map<number, DatabaseState | undefined>): [number, Fault][] {
  const first = states.get(0);
  const directory = first?.isUpToDate ? first : undefined;
  const faults = [...states].flatMap(([shard, state]): [number, Fault][] => {
    const fault = faultOfShard(shard, state, directory);
    return fault ? [[shard, fault]] : [];
  });
  const unbound = (directory?.unbound ?? []).map((shard): [number, Fault] => [shard, "binding_missing"]);
  return [...faults, ...unbound];
}

/** The status stays 200, because the service answers requests. */
const QUIET =
  "The database was restored: no webhook or mail is sent, no file is deleted, no day of the access log is sealed and LiveKit is not asked until `npm run restore -- --resume`, in production with --remote";

const FROZEN =
  "The writes and the background work of frozen_organizations have been stopped for more than an hour: if no `organizations:delete` or `organizations:move` is running, run it again, or with --undo";

/** For monitoring: takes no credentials and shows no details. */
export const health = newHono<{ Bindings: Env }>().get("/", async (c) => {
  try {
    requireOwnSecrets(readSettings(c.env), c.req.url);
    for (const shard of shardsOf(c.env)) readSettings(envOfShard(c.env, shard));
  } catch (error) {
    logFault({ request_id: c.get("requestId") }, error);
    const names = error instanceof SettingsError ? `: set ${error.settings.join(", ")}` : "";
    throw notReady("settings_at_fault", names);
  }
  const settings = readSettings(c.env);
  const shards = shardsOf(c.env);
  const asked = shards.map(async (shard) => [shard, await findState(envOfShard(c.env, shard))] as const);
  const states = new Map(await Promise.all(asked));
  const faults = faultsOfShards(states);
  const [fault] = faults;
  if (fault) {
    const names = faults.map(([shard]) => `shard ${shard}`).join(", ");
    throw notReady(fault[1], shards.length > 1 || fault[0] > 0 ? `: ${names}` : "");
  }
  const isQuiet = [...states.values()].some((state) => state?.isQuiet);
  const frozen = [...states.values()].flatMap((state) => state?.frozen ?? []);
  const isFrozen = frozen.length > 0;
  return c.json({
    status: isQuiet ? "quiet" : isFrozen ? "frozen" : "ok",
    version: settings.VERSION ?? null,
    mail: mailerOf(c.env, settings) ? "on" : "off",
    ...((isQuiet || isFrozen) && { message: isQuiet ? QUIET : FROZEN }),
    ...(isFrozen && { frozen_organizations: frozen }),
    // Not errors, but worth the operator's attention.
    ...(settings.ALLOW_HTTP === "true" && { allow_http: true }),
    ...(!settings.AUDIT_SIGNING_KEY && { access_log_not_sealed: true }),
  });
});
