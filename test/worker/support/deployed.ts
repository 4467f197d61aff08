import { env } from "cloudflare:workers";

/** True if the tests run with several databases (`worker-sharded-long` in vitest.config.ts). */
export const isSharded = "DIRECTORY" in env;

/** The database that knows where organizations live. It is the only one, unless there are several. */
export const directory: D1Database = env.DIRECTORY ?? env.DB;

/**
 * The environment that the Worker gets. In tests, `DB` is always the database in which organizations live. With several
 * databases, that is the second one for the Worker.
 */
export function asDeployed<E extends object>(bindings: E): E {
  if (!("DIRECTORY" in bindings && "DB" in bindings)) return bindings;
  const { DIRECTORY, DB, ...others } = bindings;
  return { ...others, DB: DIRECTORY, DB_1: DB } as unknown as E;
}

/** A queue message without its shard, as tests know it: with several databases, all messages are about the second one. */
export function withoutShard(body: unknown): unknown {
  if (!isSharded) return body;
  const { shard: _, ...rest } = body as { shard?: number };
  return rest;
}

/** A queue message with the shard that the consumer expects. A body that is not an object stays as it is. */
export const withShard = (body: unknown): unknown =>
  isSharded && typeof body === "object" && body !== null ? { shard: 1, ...body } : body;
