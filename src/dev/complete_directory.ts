/**
 * A directory that was restored from an earlier time does not know the organizations that came after it: nobody finds them, and
 * their slugs would be given again.
 */
import type { Database } from "./databases.ts";
import { queryDatabase } from "./wrangler.ts";

/** What a command line takes on every machine. */
const ROWS_AT_ONCE = 200;

/**
 * Enters the organizations that other databases have and the directory does not know.
 *
 * @returns how many
 * @throws Error if the directory knows another organization by the id or the slug of one of them
 */
export function completeDirectory([directory, ...others]: Database[]): number {
  if (!directory || others.length === 0) return 0;
  const [places = []] = queryDatabase(directory, ["SELECT id, slug, shard FROM places"]);
  const shards = new Map(places.map(({ id, slug, shard }) => [`${id} ${slug}`, Number(shard)]));
  const taken = new Set(places.flatMap(({ id, slug }) => [String(id), String(slug)]));
  const missing: string[] = [];
  for (const database of others) {
    const [organizations = []] = queryDatabase(database, ["SELECT id, slug FROM organizations"]);
    for (const { id, slug } of organizations) {
      const known = shards.get(`${id} ${slug}`);
      if (known === database.shard) continue;
      if (known !== undefined || taken.has(String(id)) || taken.has(String(slug)))
        throw new Error(
          `Organization ${id} is in shard ${database.shard}, and the first database says something else of its id or slug. Restore the first database from a time at which it knew this organization.`,
        );
      missing.push(`(${id}, '${slug}', ${database.shard})`);
    }
  }
  for (let from = 0; from < missing.length; from += ROWS_AT_ONCE)
    queryDatabase(directory, [
      `INSERT INTO places (id, slug, shard) VALUES ${missing.slice(from, from + ROWS_AT_ONCE)}`,
    ]);
  return missing.length;
}
