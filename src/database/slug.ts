import slugify from "@sindresorhus/slugify";
import { type SQL, sql } from "drizzle-orm";
import type { Value } from "./queries.ts";

/** ASCII kebab case of a name, transliterated; `fallback` where nothing of the name is left. */
export function kebabCase(name: string, fallback: string): string {
  return slugify(name, { decamelize: false }) || fallback;
}

/**
 * The first free one of `base`, `base-2`, `base-3`, …
 *
 * @param isTaken makes SQL that is true where the candidate is taken
 */
export function firstFreeSlug(
  base: Value<string>,
  isTaken: (candidate: SQL) => SQL | undefined,
): SQL<string> {
  return sql`(
    with recursive candidate (suffix, slug) as (
      select 1, ${base}
      union all
      select suffix + 1, ${base} || '-' || (suffix + 1) from candidate where ${isTaken(sql`candidate.slug`)}
    )
    select slug from candidate order by suffix desc limit 1
  )`;
}
