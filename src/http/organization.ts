import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";
import type { Bound } from "../database/database.ts";
import { newShardOfId, newShardOfSlug } from "../database/moves.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { type OrganizationName, rememberPlace, shardOfOrganization } from "../directory/places.ts";
import type { PlatformEnv } from "./platform_api.ts";
import { pathId } from "./wire.ts";

/*
 * Every request of the platform names its organization: in the path, by the slug of a room, or by a secret. From here on it is
 * about the database in which that organization lives, and nothing behind this knows that there are others.
 */

/** For paths below `/organizations/:organization_id`. A malformed id is refused by the route. */
export const inOrganizationOfPath = createMiddleware<PlatformEnv>(async (c, next) => {
  const id = pathId().safeParse(c.req.param("organization_id")).data;
  if (id !== undefined) await enterOrganization(c.var.context, { id });
  await next();
});

/** For paths below `/waiting_rooms/:slug`. */
export const inOrganizationOfSlug = createMiddleware<PlatformEnv>(async (c, next) => {
  const slug = organizationSlugOf(c.req.param("slug") ?? "");
  if (slug) await enterOrganization(c.var.context, { slug });
  await next();
});

/**
 * After the body of a route that names its organization by a secret.
 *
 * @param nameOf throws the refusal of the route, if the secret names none
 */
export const inOrganizationOf = <Body>(
  nameOf: (body: Body, context: Context) => Promise<OrganizationName | NamedShard>,
) =>
  createMiddleware<PlatformEnv, string, { out: { json: Body } }>(async (c, next) => {
    const { context } = c.var;
    if (context.shards) await enterOrganization(context, await nameOf(c.req.valid("json"), context));
    await next();
  });

/** A secret names the database in which it was made, and `newShard` asks whether its organization has moved since. */
export interface NamedShard {
  shard: number;
  newShard: Bound;
}

/**
 * The context in the database of an organization. With one database, nobody is asked.
 *
 * @throws Error if that database is not bound
 */
export async function enterOrganization(
  context: Context,
  name: OrganizationName | NamedShard,
): Promise<Context> {
  const { shards, now } = context;
  if (!shards) return context;
  if ("shard" in name) return shards.enter(name.shard, name);
  const { directory } = shards;
  return shards.enter(await shardOfOrganization(directory, name, now), {
    newShard: "id" in name ? newShardOfId(name) : newShardOfSlug(name),
    onMoved: (shard) => rememberPlace(directory, name, shard, now),
  });
}
