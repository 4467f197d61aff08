import { eq, type SQL, sql } from "drizzle-orm";
import type { Value } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { nextSlug } from "../../database/slug.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { waitingRoomSlugs } from "./waiting_rooms.table.ts";

/** Selects the id of the room that has or had the slug. */
export const roomOfAnySlug = (slug: Value<string>) =>
  selectColumn(waitingRoomSlugs.waiting_room_id, eq(waitingRoomSlugs.slug, slug));

/** Selects the organization of the room that has or had the slug. */
export const organizationOfAnySlug = (slug: Value<string>) =>
  selectColumn(waitingRoomSlugs.organization_id, eq(waitingRoomSlugs.slug, slug));

/**
 * A slug that no room ever had, for a room of this name: `{organization's slug}--{name}`, with a number if that is taken. A name
 * in kebab case never contains `--`, so rooms of two organizations never compete for a slug.
 */
export function freeSlug(organization_id: Value<number>, kebabName: Value<string>): SQL<string> {
  const organizationSlug = selectColumn(organizations.slug, eq(organizations.id, organization_id));
  return nextSlug(waitingRoomSlugs, sql`${organizationSlug} || '--' || ${kebabName}`);
}
