import { eq } from "drizzle-orm";
import type { Context } from "../context.ts";
import { builder, type Placeholders, preparedQuery, runBatch } from "../database/queries.ts";
import { users } from "../database/schema.ts";

/** The email can be known from another organization. With null as its id, the database gives the user one. */
export const insertUser = preparedQuery(
  ({ id, email, now }: Placeholders<{ id: number | null; email: string; now: number }>) =>
    builder.insert(users).values({ id, email, created_at: now, updated_at: now }).onConflictDoNothing(),
);

const userOfEmail = preparedQuery(({ email }: Placeholders<{ email: string }>) =>
  builder.select({ id: users.id }).from(users).where(eq(users.email, email)),
);

/**
 * The id with which a person becomes a user here. The directory gives it, so that somebody who is in organizations of several
 * shards has one account. In the directory itself it is null: the statement that makes the user gives the id.
 */
export async function idForNewUser({ shard, shards, now }: Context, email: string): Promise<number | null> {
  if (!shards || shard === 0) return null;
  const [, [user]] = await runBatch(shards.directory, [
    insertUser({ id: null, email, now }),
    userOfEmail({ email }),
  ]);
  return user?.id ?? null;
}
