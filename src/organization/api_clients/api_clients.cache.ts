import { isMoving } from "../../database/causes.ts";
import { runAll } from "../../database/queries.ts";
import { logFault } from "../../http/log.ts";
import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { MAX_CLIENT_ID_LENGTH } from "../../limits.ts";
import { remember } from "../../memory.ts";
import * as tuning from "../../tuning.ts";
import { DAY } from "../../units.ts";
import { type ClientRecord, findClient } from "./api_clients.service.ts";
import { noteFirstUse } from "./api_clients.sql.ts";

interface LookUps {
  inBackground: (work: Promise<unknown>) => void;
  /** Called before the look-up of an unknown id. May throw to prevent it. */
  beforeLookUp: () => void;
}

const knownClients = new Map<
  string,
  { record: ClientRecord; looked_up_at: number; refresh_started_at?: number }
>();

/** When each unknown or revoked id was looked up. Separate, so that made-up ids cannot displace clients. */
const refusedIds = new Map<string, number>();

/**
 * A known client costs no round trip: up to 10 s after its look-up, it is used as is; up to 60 s, while a new look-up runs in
 * the background. An expired one is refused at once. Look-ups ask the primary, so that a new client works at once, and a
 * lagging replica cannot bring a revoked client back.
 */
export async function recallClient(env: Env, client_id: string, now: number, lookUps: LookUps) {
  const record = await recallRecord(env, client_id, now, lookUps);
  return record && now < (record.caller.expires_at ?? Number.POSITIVE_INFINITY) ? record : null;
}

async function recallRecord(
  env: Env,
  client_id: string,
  now: number,
  { inBackground, beforeLookUp }: LookUps,
): Promise<ClientRecord | null> {
  if (client_id.length > MAX_CLIENT_ID_LENGTH) return null;
  if (now - refusedAt(client_id) < tuning.CLIENT_REFUSED_FOR) return null;
  const known = knownClients.get(client_id);
  const age = known ? now - known.looked_up_at : Number.POSITIVE_INFINITY;
  if (!known) beforeLookUp();
  if (!known || age >= CLIENT_KNOWN_FOR) return lookUpClient(env, client_id, now);
  if (
    age >= tuning.CLIENT_FRESH_FOR &&
    now - (known.refresh_started_at ?? 0) >= tuning.CLIENT_REFRESH_TIMEOUT
  ) {
    known.refresh_started_at = now;
    const lookUp = lookUpClient(env, client_id, now);
    inBackground(lookUp.catch((error) => logFault({ chore: "client_look_up" }, error)));
  }
  return known.record;
}

/**
 * The first use on a UTC day that this isolate knows of. After a failed write, the next look-up restores the stored time. `env`
 * has the bindings of the client's shard.
 */
export async function noteUse(env: Env, client_id: string, now: number): Promise<void> {
  const record = knownClients.get(client_id)?.record;
  const day_began_at = now - (now % DAY);
  if (!record || (record.last_used_at ?? 0) >= day_began_at) return;
  record.last_used_at = now;
  const { api_client_id } = record.caller;
  try {
    await runAll(env.DB, noteFirstUse({ api_client_id, now, day_began_at }));
  } catch (error) {
    if (!isMoving(error)) logFault({ chore: "client_use" }, error);
  }
}

/** The id stays known, so that the look-up does not count as a guess. */
export function lookUpAgain(client_id: string) {
  const known = knownClients.get(client_id);
  if (known) known.looked_up_at = Number.NEGATIVE_INFINITY;
}

/** The age counts from before the look-up, because a client can be revoked while D1's response is under way. */
async function lookUpClient(env: Env, client_id: string, now: number): Promise<ClientRecord | null> {
  const record = await findClient(env, client_id);
  // A client that was refused by a later look-up stays refused.
  if (refusedAt(client_id) >= now) return null;
  const meanwhile = knownClients.get(client_id);
  if (record && meanwhile && meanwhile.looked_up_at > now) return record;
  if (record) remember(knownClients, client_id, { record, looked_up_at: now }, tuning.MAX_REMEMBERED);
  else {
    knownClients.delete(client_id);
    remember(refusedIds, client_id, now, tuning.MAX_REMEMBERED);
  }
  return record;
}

const refusedAt = (client_id: string) => refusedIds.get(client_id) ?? Number.NEGATIVE_INFINITY;
