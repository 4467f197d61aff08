import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { jsonOrUndefined } from "../../bytes/json.ts";
import { textWithin } from "../../http/bounded_text.ts";
import type { RefusalReason } from "../../http/log_names.ts";
import { waitUntil } from "../../http/look_again.ts";
import { KEYS_COOLDOWN, KEYS_KNOWN_FOR } from "../../lifetimes.ts";
import { remember } from "../../memory.ts";
import { KEYS_BODY_LIMIT, KEYS_TIMEOUT, KEYS_WAIT, MAX_KEYS, MAX_KNOWN_KEY_SETS } from "../../tuning.ts";

/** `keys_malformed`: the response is not a key set (RFC 7517). */
export type KeysFault = RefusalReason<"keys">;

export class KeysUnavailable extends Error {
  override name = "KeysUnavailable";
  readonly fault: KeysFault;

  constructor(fault: KeysFault, options?: ErrorOptions) {
    super(fault, options);
    this.fault = fault;
  }
}

/** The provider publishes a key for this token that is unusable. Its other keys may be fine. */
export class KeyUnusable extends Error {
  override name = "KeyUnusable";
}

/** By URL, oldest first. */
const knownKeySets = new Map<string, JWTVerifyGetKey>();

/**
 * jose caches keys for 10 minutes, and fetches them again for an unknown key, but not within 30 s of the last fetch. The
 * returned function throws KeysUnavailable, KeyUnusable for the token's own key, and jose's errors if no key matches, or
 * several do.
 */
export function keysOfProvider(jwks_url: string): JWTVerifyGetKey {
  const known = knownKeySets.get(jwks_url);
  if (known) return known;
  const keys = remoteKeys(jwks_url);
  remember(knownKeySets, jwks_url, keys, MAX_KNOWN_KEY_SETS);
  return keys;
}

function remoteKeys(jwks_url: string): JWTVerifyGetKey {
  const fetchOnce = sharedFetch();
  const remote = createRemoteJWKSet(new URL(jwks_url), {
    timeoutDuration: KEYS_TIMEOUT,
    cooldownDuration: KEYS_COOLDOWN,
    cacheMaxAge: KEYS_KNOWN_FOR,
    [customFetch]: (url, options) => fetchOnce(url, options, remote.fresh),
  });
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      const isKnown =
        error instanceof KeysUnavailable ||
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys;
      // The key set was checked when it was fetched, so the fault is in this key.
      throw isKnown ? error : new KeyUnusable("The key cannot be used", { cause: error });
    }
  };
}

interface Attempt {
  startedAt: number;
  isOver: boolean;
  body: string;
  fault: KeysFault;
}

/** One of the concurrent requests fetches, and the others wait for its response. */
function sharedFetch() {
  let attempt: Attempt = { startedAt: 0, isOver: true, body: "", fault: "keys_unreachable" };

  return async (url: string, options: RequestInit, haveKeys: boolean): Promise<Response> => {
    if (!attempt.isOver) {
      await waitUntil(() => attempt.isOver || Date.now() - attempt.startedAt >= KEYS_WAIT);
      if (attempt.body) return new Response(attempt.body);
    }
    // jose's cooldown counts from the last success. Without this check, tokens with made-up keys would cause request
    // after request to a provider that is down.
    if (haveKeys && attempt.isOver && Date.now() - attempt.startedAt < KEYS_COOLDOWN)
      throw new KeysUnavailable(attempt.fault);
    const mine: Attempt = { startedAt: Date.now(), isOver: false, body: "", fault: "keys_unreachable" };
    attempt = mine;
    try {
      mine.body = await fetchKeySet(url, options);
      return new Response(mine.body);
    } catch (error) {
      const unavailable = asUnavailable(error);
      mine.fault = unavailable.fault;
      throw unavailable;
    } finally {
      mine.isOver = true;
    }
  };
}

async function fetchKeySet(url: string, options: RequestInit): Promise<string> {
  const response = await fetch(url, options);
  if (response.status !== 200) throw new KeysUnavailable("keys_not_ok");
  const body = await textWithin(response, KEYS_BODY_LIMIT);
  if (body === undefined) throw new KeysUnavailable("keys_too_large");
  return JSON.stringify({ keys: readableKeys(body) });
}

/** Keys that cannot be read are skipped, because the others may be fine. */
function readableKeys(body: string): object[] {
  const keys = (jsonOrUndefined(body) as { keys?: unknown } | null | undefined)?.keys;
  if (!Array.isArray(keys)) throw new KeysUnavailable("keys_malformed");
  if (keys.length > MAX_KEYS) throw new KeysUnavailable("keys_too_large");
  const readable = keys.filter((key) => typeof key === "object" && key !== null && !Array.isArray(key));
  if (keys.length > 0 && readable.length === 0) throw new KeysUnavailable("keys_malformed");
  return readable.map(verifyingKey);
}

/** Members that are null count as absent, and operations other than `verify` are ignored. */
function verifyingKey(key: object): object {
  const members = Object.entries(key).filter(([, value]) => value !== null);
  const { key_ops, ...others } = Object.fromEntries(members) as { key_ops?: unknown };
  if (key_ops === undefined) return others;
  return { ...others, key_ops: [key_ops].flat().includes("verify") ? ["verify"] : key_ops };
}

function asUnavailable(error: unknown): KeysUnavailable {
  if (error instanceof KeysUnavailable) return error;
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return new KeysUnavailable(isTimeout ? "keys_timeout" : "keys_unreachable", { cause: error });
}
