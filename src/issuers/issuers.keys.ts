import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { KEYS_COOLDOWN, KEYS_KNOWN_FOR, KEYS_TIMEOUT, MAX_KNOWN_KEY_SETS } from "../limits.ts";

/** The keys of an identity provider cannot be had; says nothing about the token. */
export class KeysUnavailable extends Error {
  override name = "KeysUnavailable";
}

/** Key sets of identity providers that this isolate has met, by URL, oldest first. */
const knownKeySets = new Map<string, JWTVerifyGetKey>();

/**
 * The public keys of an identity provider (RFC 7517), as jose caches them: for 10 minutes, fetched again where a
 * token names an unknown one, but not within 30 s of the last time.
 *
 * Its function throws KeysUnavailable where they cannot be fetched within 5 s, and jose's errors where none fits.
 */
export function keysOf(jwks_url: string): JWTVerifyGetKey {
  const known = knownKeySets.get(jwks_url);
  if (known) return known;
  for (const oldest of knownKeySets.keys()) {
    if (knownKeySets.size < MAX_KNOWN_KEY_SETS) break;
    knownKeySets.delete(oldest);
  }
  const keys = fetchedKeys(jwks_url);
  knownKeySets.set(jwks_url, keys);
  return keys;
}

function fetchedKeys(jwks_url: string): JWTVerifyGetKey {
  let attemptedAt = 0;
  const remote = createRemoteJWKSet(new URL(jwks_url), {
    timeoutDuration: KEYS_TIMEOUT,
    cooldownDuration: KEYS_COOLDOWN,
    cacheMaxAge: KEYS_KNOWN_FOR,
    [customFetch]: (url, options) => {
      // jose's cooldown counts from the last success; tokens with made-up keys are not to hammer one that is down.
      if (remote.fresh && Date.now() - attemptedAt < KEYS_COOLDOWN)
        throw new Error("The keys were asked for a moment ago");
      attemptedAt = Date.now();
      return fetch(url, options);
    },
  });
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      const fault =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
      throw fault ? error : new KeysUnavailable("The keys cannot be fetched", { cause: error });
    }
  };
}
