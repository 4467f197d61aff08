import type { Database } from "../../database/database.ts";
import { logFault } from "../../http/log.ts";
import {
  CLIENT_FRESH_FOR,
  CLIENT_KNOWN_FOR,
  CLIENT_REFRESH_TIMEOUT,
  MAX_KNOWN_CLIENTS,
} from "../../limits.ts";
import { type ClientRecord, findClient } from "./api_clients.service.ts";

interface KnownClient {
  record: ClientRecord;
  looked_up_at: number;
  refresh_started_at?: number;
}

/** Clients that this isolate has looked up, oldest first. Unknown ones are not cached. */
const knownClients = new Map<string, KnownClient>();

/**
 * The client as this isolate knows it, so that a known one costs no round trip: up to 10 s after its look-up as
 * it is, up to 60 s while it is looked up again in the background. A revoked client is refused within 60 s.
 *
 * @param inBackground keeps the isolate alive for a promise (ExecutionContext.waitUntil)
 */
export async function recallClient(
  binding: D1Database,
  client_id: string,
  now: number,
  inBackground: (work: Promise<unknown>) => void,
): Promise<ClientRecord | null> {
  const known = knownClients.get(client_id);
  const age = known ? now - known.looked_up_at : Number.POSITIVE_INFINITY;
  const askPrimary = () => lookUpClient(binding, client_id, now);
  if (known && age >= CLIENT_KNOWN_FOR) return askPrimary();
  if (!known) {
    // A client that was made a moment ago may not have reached the replica.
    const replica = binding.withSession("first-unconstrained");
    return (await lookUpClient(replica, client_id, now)) ?? (await askPrimary());
  }
  if (age >= CLIENT_FRESH_FOR && now - (known.refresh_started_at ?? 0) >= CLIENT_REFRESH_TIMEOUT) {
    known.refresh_started_at = now;
    inBackground(askPrimary().catch((error) => logFault({ chore: "client_look_up" }, error)));
  }
  return known.record;
}

/** The age counts from before the look-up: what D1 says can be revoked while the answer is under way. */
async function lookUpClient(db: Database, client_id: string, now: number): Promise<ClientRecord | null> {
  const record = await findClient(db, client_id);
  const meanwhile = knownClients.get(client_id);
  if (meanwhile && meanwhile.looked_up_at > now) return record;
  knownClients.delete(client_id);
  if (!record) return null;
  for (const oldest of knownClients.keys()) {
    if (knownClients.size < MAX_KNOWN_CLIENTS) break;
    knownClients.delete(oldest);
  }
  knownClients.set(client_id, { record, looked_up_at: now });
  return record;
}
