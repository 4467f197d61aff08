import { and, asc, count, eq, gt, isNotNull, isNull, notExists, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import type { Rule } from "../../database/rules.ts";
import { organizations, organizationUsers, participants, waitingRooms } from "../../database/schema.ts";
import { selectTotal, totalOf } from "../../database/totals.ts";
import { notFound } from "../../http/errors.ts";
import type { PageWindow } from "../../http/pagination.ts";
import { roomOfAnySlug } from "./waiting_rooms.slugs.ts";

const waitingCount = builder
  .select({ count: count() })
  .from(participants)
  .where(
    and(
      eq(participants.waiting_room_id, waitingRooms.id),
      isNull(participants.left_at),
      isNull(participants.call_id),
    ),
  );

const ownerName = builder
  .select({ display_name: organizationUsers.display_name })
  .from(organizationUsers)
  .where(
    and(
      eq(organizationUsers.organization_id, waitingRooms.organization_id),
      eq(organizationUsers.user_id, waitingRooms.user_id),
    ),
  );

const organizationName = builder
  .select({ name: organizations.name })
  .from(organizations)
  .where(eq(organizations.id, waitingRooms.organization_id));

export const waitingRoomColumns = {
  id: waitingRooms.id,
  organization_id: waitingRooms.organization_id,
  user_id: waitingRooms.user_id,
  name: waitingRooms.name,
  slug: waitingRooms.slug,
  theme: waitingRooms.theme,
  is_active: waitingRooms.is_active,
  created_at: waitingRooms.created_at,
  updated_at: waitingRooms.updated_at,
  waiting_count: sql<number>`${waitingCount}`.as("waiting_count"),
  owner_display_name: sql<string>`coalesce(${ownerName}, ${organizationName})`.as("owner_display_name"),
};

/** True for the room that this slug leads to, of any organization: a slug is unique in the service. */
export const hasSlug = (slug: Value<string>): SQL | undefined =>
  and(eq(waitingRooms.slug, slug), isNull(waitingRooms.retired_at));

/** True for the organization's room that this slug leads to. */
export const ownRoom = (organization_id: Value<number>, slug: Value<string>): SQL | undefined =>
  and(eq(waitingRooms.organization_id, organization_id), hasSlug(slug));

/** Selects the id of the organization's room that this slug leads to. */
export const ownRoomId = (organization_id: Value<number>, slug: Value<string>) =>
  builder.select({ id: waitingRooms.id }).from(waitingRooms).where(ownRoom(organization_id, slug));

const personalRooms = alias(waitingRooms, "personal_rooms");

const isPersonalRoomOf = (organization_id: Value<number>, user_id: Value<number>): SQL | undefined =>
  and(
    eq(personalRooms.organization_id, organization_id),
    eq(personalRooms.user_id, user_id),
    isNull(personalRooms.retired_at),
  );

/** Selects the current slug of somebody's personal room: nothing where there is none. */
export const personalRoomSlug = (organization_id: Value<number>, user_id: Value<number>) =>
  builder
    .select({ slug: personalRooms.slug })
    .from(personalRooms)
    .where(isPersonalRoomOf(organization_id, user_id));

/** The same, but nothing where the room is not active. */
export const activePersonalRoomSlug = (organization_id: Value<number>, user_id: Value<number>) =>
  builder
    .select({ slug: personalRooms.slug })
    .from(personalRooms)
    .where(and(isPersonalRoomOf(organization_id, user_id), eq(personalRooms.is_active, true)));

/** For verbs whose path names a room of the organization. */
export const waitingRoomMissing = (organization_id: Value<number>, slug: Value<string>): Rule => ({
  broken: notExists(ownRoomId(organization_id, slug)),
  refusal: () => notFound("Waiting room"),
});

/** What a room has whose theme nobody chose, whether or not it is among those that may be chosen. */
export const DEFAULT_THEME = "default";

export const roomBySlug = namedQuery((room: Placeholders<{ organization_id: number; slug: string }>) =>
  builder.select(waitingRoomColumns).from(waitingRooms).where(ownRoom(room.organization_id, room.slug)),
);

/** For the platform, whose path names a room of any organization. */
export const anyRoomBySlug = namedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  builder.select(waitingRoomColumns).from(waitingRooms).where(hasSlug(slug)),
);

export const pageOfRooms = namedQuery(
  ({ organization_id, limit, offset }: Placeholders<{ organization_id: number } & PageWindow>) =>
    builder
      .select(waitingRoomColumns)
      .from(waitingRooms)
      .where(and(eq(waitingRooms.organization_id, organization_id), isNull(waitingRooms.retired_at)))
      .orderBy(asc(waitingRooms.id))
      .limit(limit)
      .offset(offset),
);

export const totalOfRooms = namedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
  selectTotal(totalOf("waiting_rooms", organization_id)),
);

/**
 * What the report of a call must know of the room that it names. A personal room is retired even while a call is going
 * on there, so calls that began before can still be reported.
 */
export const roomOfCall = namedQuery(
  ({ slug, started_at }: Placeholders<{ slug: string | null; started_at: number | null }>) =>
    builder
      .select({ id: waitingRooms.id, organization_id: waitingRooms.organization_id })
      .from(waitingRooms)
      .where(
        and(
          eq(waitingRooms.id, roomOfAnySlug(slug)),
          eq(waitingRooms.slug, slug),
          or(
            isNull(waitingRooms.retired_at),
            and(isNotNull(waitingRooms.user_id), gt(waitingRooms.retired_at, started_at)),
          ),
        ),
      ),
);

/** What a report must know of the room that has or had the slug. A retired room has no current slug. */
export const reportedRoomOfAnySlug = namedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  builder
    .select({
      id: waitingRooms.id,
      organization_id: waitingRooms.organization_id,
      is_active: waitingRooms.is_active,
      slug_is_current: sql<boolean>`${hasSlug(slug)}`.mapWith(waitingRooms.is_active).as("slug_is_current"),
    })
    .from(waitingRooms)
    .where(eq(waitingRooms.id, roomOfAnySlug(slug))),
);
