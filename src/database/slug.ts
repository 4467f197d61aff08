import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

let slugify: typeof import("@sindresorhus/slugify").default | undefined;

/**
 * ASCII kebab case of a name, transliterated; `fallback` where nothing of the name is left. The library is loaded when the
 * first slug is made: it would take a quarter of the Worker's start.
 */
export async function kebabCase(name: string, fallback: string): Promise<string> {
  slugify ??= (await import("@sindresorhus/slugify")).default;
  return slugify(name, { decamelize: false }) || fallback;
}

/** A table with a row for each slug that is taken. */
type TakenSlugs = SQLiteTable & Record<"slug" | "slug_stem" | "slug_number", SQLiteColumn>;

/** What `nextSlug` adds to a slug at most. */
export const MAX_SLUG_SUFFIX_LENGTH = "-".length + 8;

/**
 * The slug itself, or where it is taken, the same with one more than the highest number that it has. Where even that is
 * taken (as the number has seven digits), it ends in eight random hex digits.
 *
 * As for an id, the database gives out the next one, so that requests that meet get different ones. It reads two entries of
 * an index, however many slugs have the stem (see `slugParts` in schema.ts).
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
 * The slug of the organization with which the slug of a room begins, or the name of a room of LiveKit; undefined where it begins
 * with none. It ends at the first `--`, because an organization's slug has none, nor a hyphen at its end.
 */
export const organizationSlugOf = (name: string): string | undefined => /^(.+?)--./.exec(name)?.[1];
