import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import {
  KEYS_BODY_LIMIT,
  KEYS_COOLDOWN,
  KEYS_KNOWN_FOR,
  KEYS_POLL,
  KEYS_TIMEOUT,
  KEYS_WAIT,
  MAX_KNOWN_KEY_SETS,
} from "../../limits.ts";
import { remember } from "../../memory.ts";

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
  const keys = fetchedKeys(jwks_url);
  remember(knownKeySets, jwks_url, keys, MAX_KNOWN_KEY_SETS);
  return keys;
}

function fetchedKeys(jwks_url: string): JWTVerifyGetKey {
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
      const isFaultOfToken =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
      throw isFaultOfToken ? error : new KeysUnavailable("The keys cannot be fetched", { cause: error });
    }
  };
}

/**
 * A fetch that requests at the same time share: one asks, the others wait for its response. On Workers a request
 * cannot wait for another's promise, so they look at plain data now and then.
 */
function sharedFetch() {
  let attempt = { startedAt: 0, isOver: true, body: "" };

  return async (url: string, options: RequestInit, haveKeys: boolean): Promise<Response> => {
    while (!attempt.isOver && Date.now() - attempt.startedAt < KEYS_WAIT) {
      await scheduler.wait(KEYS_POLL);
      if (attempt.body) return new Response(attempt.body);
    }
    // jose's cooldown counts from the last success: tokens with made-up keys are not to hammer a provider that is down.
    if (haveKeys && attempt.isOver && Date.now() - attempt.startedAt < KEYS_COOLDOWN)
      throw new Error("The keys were asked for a moment ago");
    const mine = { startedAt: Date.now(), isOver: false, body: "" };
    attempt = mine;
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) return response;
      mine.body = await textWithin(response, KEYS_BODY_LIMIT);
      return new Response(mine.body);
    } finally {
      mine.isOver = true;
    }
  };
}

/** Reads no further than the limit, in bytes: one provider is not to take the memory of all organizations. */
async function textWithin(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new Error("The keys are larger than any key set");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
