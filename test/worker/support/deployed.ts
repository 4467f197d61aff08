import { env } from "cloudflare:workers";

/** True where the tests run with several databases (`worker-sharded-long` in vitest.config.ts). */
export const isSharded = "DIRECTORY" in env;

/** The database that knows where organizations live: the only one, where there are not several. */
export const directory: D1Database = env.DIRECTORY ?? env.DB;

/**
 * The environment that the Worker gets. Tests call the database in which organizations live `DB`, whichever it is. Where
 * there are several, that is the second one for the Worker.
 */
export function asDeployed<E extends object>(bindings: E): E {
  if (!("DIRECTORY" in bindings && "DB" in bindings)) return bindings;
  const { DIRECTORY, DB, ...others } = bindings;
  return { ...others, DB: DIRECTORY, DB_1: DB } as unknown as E;
}

/** A message of a queue as tests know it: where there are several databases, all are about the second one. */
export function withoutShard(body: unknown): unknown {
  if (!isSharded) return body;
  const { shard: _, ...rest } = body as { shard?: number };
  return rest;
}

/** The same as the consumer gets it. What is no object stays what it is. */
export const withShard = (body: unknown): unknown =>
  isSharded && typeof body === "object" && body !== null ? { shard: 1, ...body } : body;
