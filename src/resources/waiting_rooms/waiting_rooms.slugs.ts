import { and, asc, eq, exists, isNotNull, notExists, type SQL, sql } from "drizzle-orm";
import { builder, type Value } from "../../database/queries.ts";
import { organizations, waitingRoomSlugs } from "../../database/schema.ts";

/** Selects the id of the room that has or had the slug. */
export const roomOfAnySlug = (slug: Value<string>) =>
  builder
    .select({ id: waitingRoomSlugs.waiting_room_id })
    .from(waitingRoomSlugs)
    .where(eq(waitingRoomSlugs.slug, slug));

/** Selects the organization of the room that has or had the slug. */
export const organizationOfAnySlug = (slug: Value<string>) =>
  builder
    .select({ organization_id: waitingRoomSlugs.organization_id })
    .from(waitingRoomSlugs)
    .where(eq(waitingRoomSlugs.slug, slug));

/**
 * The slug for a room of this name: `{organization's slug}--{name}`, if no other room ever had that. Otherwise the one
 * with a number that the room had before, or the one with the first free number. A name in kebab case never contains
 * `--`, so rooms of two organizations never compete for a slug.
 *
 * Each step reads one entry of an index, however many rooms have the name (see `waitingRoomSlugs`).
 *
 * @param room_id the room that is renamed; null for a new one
 */
export function roomSlug(
  organization_id: Value<number>,
  kebabName: Value<string>,
  room_id: Value<number | null>,
): SQL<string> {
  const { slug, waiting_room_id, stem, number, next_number } = waitingRoomSlugs;
  const plain = builder
    .select({ slug: sql<string>`${organizations.slug} || '--' || ${kebabName}`.as("plain_slug") })
    .from(organizations)
    .where(eq(organizations.id, organization_id))
    .as("plain");
  const ofAnotherRoom = builder
    .select({ slug })
    .from(waitingRoomSlugs)
    .where(and(eq(slug, plain.slug), sql`${waiting_room_id} is not ${room_id}`));
  const before = builder
    .select({ slug })
    .from(waitingRoomSlugs)
    .where(and(eq(waiting_room_id, sql`${room_id}`), eq(stem, plain.slug)))
    .orderBy(asc(number))
    .limit(1);
  const second = builder
    .select({ slug })
    .from(waitingRoomSlugs)
    .where(eq(slug, sql`${plain.slug} || '-2'`));
  const next = builder
    .select({ next_number })
    .from(waitingRoomSlugs)
    .where(and(eq(stem, plain.slug), isNotNull(next_number)))
    .orderBy(asc(next_number))
    .limit(1);
  return sql`(select case when ${notExists(ofAnotherRoom)} then ${plain.slug}
    else coalesce(${before}, ${plain.slug} || '-' || iif(${exists(second)}, ${next}, 2)) end from ${plain})`;
}
