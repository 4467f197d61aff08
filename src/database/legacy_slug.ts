// TEMPORARY
import slugify from "@sindresorhus/slugify";
import { type SQL, sql } from "drizzle-orm";

/** ASCII kebab case of a name, transliterated; `fallback` where nothing of the name is left. */
export function kebabCase(name: string, fallback: string): string {
  return slugify(name, { decamelize: false }) || fallback;
}

/**
 * SQL for the first free one of `base`, `base-2`, `base-3`, …
 *
 * @param taken SQL that is true where `candidate.slug` is taken
 */
export function firstFreeSlug(base: SQL, taken: SQL): SQL<string> {
  return sql`(
    with recursive candidate (suffix, slug) as (
      select 1, ${base}
      union all
      select suffix + 1, ${base} || '-' || (suffix + 1) from candidate where ${taken}
    )
    select slug from candidate order by suffix desc limit 1
  )`;
}
