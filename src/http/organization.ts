import type { Context as HonoContext, Next } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";
import { isMoving } from "../database/causes.ts";
import { organizationSlugOf } from "../database/slug.ts";
import { forgetPlace, type OrganizationName, shardOfOrganization } from "../directory/places.ts";
import type { PlatformEnv } from "./platform_api.ts";
import { pathId } from "./wire.ts";

/* Every platform request names its organization, and the middleware here switches to its database. */

/** A secret can name the database in which it was created. */
type Destination = OrganizationName | { shard: number };

/** The route itself refuses a malformed id. */
export const inOrganizationOfPath = createMiddleware<PlatformEnv>((c, next) => {
  const id = pathId().safeParse(c.req.param("organization_id")).data;
  return id === undefined ? next() : inOrganization(c, { id }, next);
});

export const inOrganizationOfSlug = createMiddleware<PlatformEnv>((c, next) => {
  const slug = organizationSlugOf(c.req.param("slug")?.toLowerCase() ?? "");
  return slug ? inOrganization(c, { slug }, next) : next();
});

/** For a secret in the body. `nameOf` throws the route's refusal if the secret names no organization. */
export const inOrganizationOf = <Body>(nameOf: (body: Body, context: Context) => Promise<Destination>) =>
  createMiddleware<PlatformEnv, string, { out: { json: Body } }>(async (c, next) => {
    const { context } = c.var;
    if (!context.shards) return next();
    await inOrganization(c, await nameOf(c.req.valid("json"), context), next);
  });

async function inOrganization(c: HonoContext<PlatformEnv>, name: Destination, next: Next): Promise<void> {
  const { context } = c.var;
  await enterOrganization(context, name);
  await next();
  if (c.error) forgetIfMoved(context, name, c.error);
}

/**
 * Without a lookup if there is a single database.
 *
 * @throws Error if the organization's database is not bound
 */
export async function enterOrganization(context: Context, name: Destination): Promise<Context> {
  const { shards, now } = context;
  if (!shards) return context;
  return shards.enter("shard" in name ? name.shard : await shardOfOrganization(shards.directory, name, now));
}

/** If the old database refuses because the organization has moved, the next request asks the directory again. */
export function forgetIfMoved({ shards }: Context, name: Destination, error: Error) {
  if (shards && !("shard" in name) && isMoving(error)) forgetPlace(shards.directory, name);
}
