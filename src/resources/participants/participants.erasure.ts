import { keyedDigests } from "../../bytes/digest.ts";
import type { Settings } from "../../settings.ts";
import type { Participant } from "./participants.schemas.ts";
import type { NamedValues } from "./participants.sql.ts";

/** The name of somebody whose name was erased. */
export const ERASED_NAME = "Participant";

export type NamedKeys = Awaited<ReturnType<typeof namedKeys>>;

/**
 * The keys that a report names. Of the key of somebody who is erased only a digest is left, by which a late report is
 * recognized.
 */
export async function namedKeys({ DIGEST_SECRET }: Settings, keys: string[]) {
  const digests = await keyedDigests(DIGEST_SECRET, keys);
  const digestOf = new Map(keys.map((key, n) => [key, digests[n] as string]));
  const keyOfDigest = new Map(digests.map((digest, n) => [digest, keys[n] as string]));
  const valuesOf = (some: string[]): NamedValues => ({
    keys: JSON.stringify(some),
    digests: JSON.stringify(some.map((key) => digestOf.get(key))),
  });
  return {
    /** For queries, as JSON arrays. */
    values: valuesOf(keys),
    /** The same of some of the keys. */
    valuesOf,
    /**
     * Those who were found, with the keys of the report. Who visited again after an erasure is there once, as who visits
     * now.
     *
     * @param found by id: later visits come last
     */
    asReported<Found extends Pick<Participant, "key" | "erased_at">>(found: Found[]): Found[] {
      const erased = found.filter(({ erased_at }) => erased_at !== null);
      const known = found.filter(({ erased_at }) => erased_at === null);
      const before = erased.map((each) => ({ ...each, key: keyOfDigest.get(each.key) ?? each.key }));
      return [...new Map([...before, ...known].map((each) => [each.key, each])).values()];
    },
  };
}
