import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { rangeStatement } from "../../src/dev/shard_statements.ts";
import { absolute, configurations } from "./support/configurations.ts";
import { done, refused } from "./support/ended.ts";
import { withDatabases } from "./support/local_databases.ts";

const { aConfiguration } = configurations();

const shardsIn = (state: string) =>
  withDatabases(state, (databases) => databases.get(0)?.prepare("select shard, range from shards").all());

const sequenceIn = (state: string, range: number) =>
  withDatabases(state, (databases) =>
    databases.get(range)?.prepare("select seq from sqlite_sequence where name = 'events'").get(),
  );

describe("npm run shards:add", () => {
  it("creates and binds a database with its own ids, and another one the next time", async () => {
    const project = aConfiguration("added");
    for (const shard of [1, 2]) {
      const added = await done(project.run("shards:add"));
      expect(added).toContain(`new organizations live in shard ${shard}`);
    }
    expect(shardsIn(project.state)).toEqual([
      { shard: 1, range: 1 },
      { shard: 2, range: 2 },
    ]);
    expect(sequenceIn(project.state, 2)).toEqual({ seq: 2 * RANGE });
    expect(project.text()).toContain('binding = "DB_2"');
    await done(project.run("deploy", "--local"));
  });

  it("completes a run that ended halfway", async () => {
    const project = aConfiguration("interrupted");
    // The run ended after the range was given, or after the database was created but not bound.
    withDatabases(project.state, (databases) => databases.get(0)?.exec(rangeStatement(1)));
    expect(await done(project.run("shards:add"))).toContain("Its range of ids is 1.");
    const bound = project.text();
    project.write(absolute(readFileSync("wrangler.toml", "utf8")));
    await done(project.run("shards:add"));
    expect(project.text()).toBe(bound);
    expect(shardsIn(project.state)).toEqual([{ shard: 1, range: 1 }]);
    expect(sequenceIn(project.state, 1)).toEqual({ seq: RANGE });
  });
});

it("npm run deploy refuses a database without its range or with another one, and shards:add gives a missing range", async () => {
  const project = aConfiguration("unknown");
  const bound = '[[d1_databases]]\nbinding = "DB_1"\nmigrations_dir = "drizzle"\n\n$&';
  project.write(absolute(project.text().replace("[[r2_buckets]]", bound)));
  expect(await refused(project.run("deploy", "--local"))).toContain(
    "Nothing is deployed. DB_1 has no range of ids. Run `npm run shards:add -- --config ",
  );
  await done(project.run("shards:add"));
  withDatabases(project.state, (databases) =>
    databases.get(1)?.exec("update database_settings set value = 7 where name = 'range'"),
  );
  const other = await refused(project.run("deploy", "--local"));
  expect(other).toContain("has a range of ids that the first database has not given it");
});
