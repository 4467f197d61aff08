import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { RECORDED_PARTICIPANTS } from "../../support/recorded_participants.ts";
import { makeShard } from "./make_shard.ts";

/** Empties the databases and buckets, and migrates the databases. */
export async function emptyStorage(): Promise<void> {
  await reset();
  // It has left the rows of a large database, which the next file's tests would compare again and again.
  for (let tries = 0; tries < 20 && (await hasTables()); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    await reset();
  }
  if (await hasTables()) throw new Error("The storage of an earlier file is not empty");
  // `reset` has left files behind. Organizations get the same ids again, so the file of an earlier sealed day would be in the way.
  const sealed = await env.AUDIT_LOGS.list();
  await env.AUDIT_LOGS.delete(sealed.objects.map(({ key }) => key));
  await applyD1Migrations(env.DIRECTORY ?? env.DB, env.MIGRATIONS);
  if (env.DIRECTORY) await makeShard(env.DIRECTORY, env.DB, 1, env.MIGRATIONS);
  await env.DB.batch(RECORDED_PARTICIPANTS.map((each) => env.DB.prepare(each)));
}

const hasTables = async (): Promise<boolean> =>
  (await env.DB.prepare("select 1 from sqlite_master where name = 'organizations'").first()) !== null;
