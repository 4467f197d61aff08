import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

let slugify: typeof import("@sindresorhus/slugify").default | undefined;

/** `fallback` if nothing is left of the name. Loading the library would take a quarter of the Worker's start time. */
export async function kebabCase(name: string, fallback: string): Promise<string> {
  slugify ??= (await import("@sindresorhus/slugify")).default;
  return slugify(name, { decamelize: false }) || fallback;
}

type TakenSlugs = SQLiteTable & Record<"slug" | "slug_stem" | "slug_number", SQLiteColumn>;

export const MAX_SLUG_SUFFIX_LENGTH = "-".length + 8;

/**
 * Numbered if it is taken, by one more than the highest number of its stem; if that is taken too (seven digits), with eight
 * random hex digits. The database chooses, in the statement that stores the slug, so that simultaneous requests differ. It
 * reads two entries of an index, however many slugs have the stem (see `slugParts` in columns.ts).
 */
export function nextSlug(taken: TakenSlugs, slug: SQL): SQL<string> {
  const highest = sql`select max(${taken.slug_number}) from ${taken} where ${taken.slug_stem} = plain.slug`;
  const isFree = (candidate: SQL) =>
    sql`not exists (select 1 from ${taken} where ${taken.slug} = ${candidate})`;
  return sql`(
    with plain (slug) as (select ${slug}),
      numbered (slug) as (select plain.slug || '-' || (coalesce((${highest}), 1) + 1) from plain)
    select case when ${isFree(sql`plain.slug`)} then plain.slug
      when ${isFree(sql`numbered.slug`)} then numbered.slug
      else plain.slug || '-' || lower(hex(randomblob(4))) end
    from plain, numbered)`;
}

/** From the start of a room's slug or name: an organization's slug contains no `--` and does not end with a hyphen. */
export const organizationSlugOf = (name: string): string | undefined => /^(.+?)--./.exec(name)?.[1];
