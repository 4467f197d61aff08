import type { Context as HonoContext, Next } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";
import { isMoving } from "../database/causes.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { forgetPlace, type OrganizationName, shardOfOrganization } from "../directory/places.ts";
import type { PlatformEnv } from "./platform_api.ts";
import { pathId } from "./wire.ts";

/*
 * Every request of the platform names its organization: in the path, by the slug of a room, or by a secret. The middleware here
 * switches to the database in which that organization lives. Code that runs after it does not know about the other databases.
 */

/** For paths below `/organizations/:organization_id`. The route itself refuses a malformed id. */
export const inOrganizationOfPath = createMiddleware<PlatformEnv>((c, next) => {
  const id = pathId().safeParse(c.req.param("organization_id")).data;
  return id === undefined ? next() : inOrganization(c, { id }, next);
});

export const inOrganizationOfSlug = createMiddleware<PlatformEnv>((c, next) => {
  const slug = organizationSlugOf(c.req.param("slug")?.toLowerCase() ?? "");
  return slug ? inOrganization(c, { slug }, next) : next();
});

/**
 * For routes that name their organization by a secret in the body. Runs after the body is validated.
 *
 * @param nameOf throws the route's refusal if the secret names no organization
 */
export const inOrganizationOf = <Body>(
  nameOf: (body: Body, context: Context) => Promise<OrganizationName | NamedShard>,
) =>
  createMiddleware<PlatformEnv, string, { out: { json: Body } }>(async (c, next) => {
    const { context } = c.var;
    if (!context.shards) return next();
    await inOrganization(c, await nameOf(c.req.valid("json"), context), next);
  });

/** For a secret that names the database in which it was created. */
export interface NamedShard {
  shard: number;
}

async function inOrganization(
  c: HonoContext<PlatformEnv>,
  name: OrganizationName | NamedShard,
  next: Next,
): Promise<void> {
  const { context } = c.var;
  await enterOrganization(context, name);
  await next();
  if (c.error) forgetIfMoved(context, name, c.error);
}

/**
 * The context in the database of an organization. With a single database, there is no lookup.
 *
 * @throws Error if that database is not bound
 */
export async function enterOrganization(
  context: Context,
  name: OrganizationName | NamedShard,
): Promise<Context> {
  const { shards, now } = context;
  if (!shards) return context;
  return shards.enter("shard" in name ? name.shard : await shardOfOrganization(shards.directory, name, now));
}

/** If the old database refuses because the organization has moved, the next request asks the directory again. */
export function forgetIfMoved({ shards }: Context, name: OrganizationName | NamedShard, error: Error) {
  if (shards && !("shard" in name) && isMoving(error)) forgetPlace(shards.directory, name);
}
