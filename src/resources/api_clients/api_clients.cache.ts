import { logFault } from "../../http/log.ts";
import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { MAX_CLIENT_ID_LENGTH } from "../../limits.ts";
import { remember } from "../../memory.ts";
import {
  CLIENT_FRESH_FOR,
  CLIENT_REFRESH_TIMEOUT,
  CLIENT_REFUSED_FOR,
  MAX_REMEMBERED,
} from "../../tuning.ts";
import { type ClientRecord, findClient } from "./api_clients.service.ts";

interface KnownClient {
  record: ClientRecord;
  looked_up_at: number;
  refresh_started_at?: number;
}

interface LookUps {
  /** Keeps the isolate alive for a promise (ExecutionContext.waitUntil). */
  inBackground: (work: Promise<unknown>) => void;
  /** Throws where an id that this isolate does not know must not be looked up. */
  beforeLookUp: () => void;
}

/** Clients that this isolate has looked up, oldest first. */
const knownClients = new Map<string, KnownClient>();

/** Ids of unknown and revoked clients, and when they were looked up. Apart, so that made-up ids displace no client. */
const refusedIds = new Map<string, number>();

/**
 * The client as this isolate knows it, so that a known one costs no round trip: up to 10 s after its look-up as
 * it is, up to 60 s while it is looked up again in the background. A revoked client is refused within 60 s.
 *
 * Every look-up asks the primary (a database without a session). So a new client works at once, an unknown one costs
 * one round trip, and a replica that lags cannot bring a revoked client back.
 */
export async function recallClient(
  env: Env,
  client_id: string,
  now: number,
  { inBackground, beforeLookUp }: LookUps,
): Promise<ClientRecord | null> {
  if (client_id.length > MAX_CLIENT_ID_LENGTH) return null;
  if (now - refusedAt(client_id) < CLIENT_REFUSED_FOR) return null;
  const known = knownClients.get(client_id);
  const age = known ? now - known.looked_up_at : Number.POSITIVE_INFINITY;
  if (!known) beforeLookUp();
  if (!known || age >= CLIENT_KNOWN_FOR) return lookUpClient(env, client_id, now);
  if (age >= CLIENT_FRESH_FOR && now - (known.refresh_started_at ?? 0) >= CLIENT_REFRESH_TIMEOUT) {
    known.refresh_started_at = now;
    const lookUp = lookUpClient(env, client_id, now);
    inBackground(lookUp.catch((error) => logFault({ chore: "client_look_up" }, error)));
  }
  return known.record;
}

/** The next request looks it up again: its organization has moved. */
export function forgetClient(client_id: string) {
  knownClients.delete(client_id);
}

/** The age counts from before the look-up: what D1 says can be revoked while the answer is under way. */
async function lookUpClient(env: Env, client_id: string, now: number): Promise<ClientRecord | null> {
  const record = await findClient(env, client_id);
  // Look-ups can overtake each other. A client that was refused meanwhile stays refused.
  if (refusedAt(client_id) >= now) return null;
  const meanwhile = knownClients.get(client_id);
  if (record && meanwhile && meanwhile.looked_up_at > now) return record;
  if (record) remember(knownClients, client_id, { record, looked_up_at: now }, MAX_REMEMBERED);
  else {
    knownClients.delete(client_id);
    remember(refusedIds, client_id, now, MAX_REMEMBERED);
  }
  return record;
}

const refusedAt = (client_id: string) => refusedIds.get(client_id) ?? Number.NEGATIVE_INFINITY;
