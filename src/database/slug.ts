import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

let slugify: typeof import("@sindresorhus/slugify").default | undefined;

/**
 * Transliterates a name into ASCII kebab case. Returns `fallback` if nothing is left of the name. The library is loaded when the
 * first slug is created: otherwise it would take a quarter of the Worker's start time.
 */
export async function kebabCase(name: string, fallback: string): Promise<string> {
  slugify ??= (await import("@sindresorhus/slugify")).default;
  return slugify(name, { decamelize: false }) || fallback;
}

/** A table with a row for each slug that is taken. */
type TakenSlugs = SQLiteTable & Record<"slug" | "slug_stem" | "slug_number", SQLiteColumn>;

/** The most characters that `nextSlug` adds to a slug. */
export const MAX_SLUG_SUFFIX_LENGTH = "-".length + 8;

/**
 * The slug itself, if it is free. Otherwise the slug with a number, one more than the highest number of its stem. If that is taken too
 * (because the number has seven digits), the slug with eight random hex digits.
 *
 * The database chooses the slug in the statement that stores it, as it does for ids, so that simultaneous requests get different slugs.
 * It reads two entries of an index, however many slugs have the stem (see `slugParts` in columns.ts).
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

/**
 * The organization's slug, from the start of a waiting room's slug or of a video room's name; undefined without one. It
 * ends at the first `--`, because an organization's slug contains no `--` and does not end with a hyphen.
 */
export const organizationSlugOf = (name: string): string | undefined => /^(.+?)--./.exec(name)?.[1];
