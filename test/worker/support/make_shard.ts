import { applyD1Migrations, type D1Migration } from "cloudflare:test";

/** Turns a database into a shard, as `npm run shards:add` does: it first enters the range in the directory. */
export async function makeShard(
  directory: D1Database,
  database: D1Database,
  shard: number,
  migrations: D1Migration[],
) {
  const range = shard;
  await directory
    .prepare("insert or ignore into shards (shard, range) values (?, ?)")
    .bind(shard, range)
    .run();
  await applyD1Migrations(database, migrations);
  const numbered = "select name from sqlite_schema where type = 'table' and sql like '%AUTOINCREMENT%'";
  await database.batch([
    database.prepare(`delete from sqlite_sequence where name in (${numbered})`),
    database
      .prepare(`insert into sqlite_sequence (name, seq) select name, ? from (${numbered})`)
      .bind(range * 2 ** 32),
    database
      .prepare("insert or ignore into database_settings (name, value) values ('range', ?), ('shard', ?)")
      .bind(range, shard),
  ]);
}
