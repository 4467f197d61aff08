import { remember } from "../http/memory.ts";
import { MAX_KNOWN_PLACES, PLACE_KNOWN_FOR } from "../limits.ts";
import type { ContestedClaim } from "./claims.ts";
import { nameOfKey, type Place } from "./places.ts";

/* What this isolate remembers of where things are. */

/** Where things outside the first shard are. */
const knownPlaces = new Map<string, { shard: number; until: number }>();

/** The shard that is known for all names of the place. */
export function recall({ names }: Place, now: number): number | undefined {
  const [first, ...others] = names.map((name) => knownPlaces.get(name));
  if (!first || first.until <= now) return undefined;
  const areThere = others.every((other) => other && other.until > now && other.shard === first.shard);
  return areThere ? first.shard : undefined;
}

/** Does not remember keys that belong to another organization. */
export function rememberPlace({ names }: Place, shard: number, now: number, contested: ContestedClaim[]) {
  const foreign = contested.map(({ kind, key }) => nameOfKey(kind, key));
  for (const name of names)
    if (!foreign.includes(name))
      remember(knownPlaces, name, { shard, until: now + PLACE_KNOWN_FOR }, MAX_KNOWN_PLACES);
}

export function forgetPlace({ names }: Place) {
  for (const name of names) knownPlaces.delete(name);
}
