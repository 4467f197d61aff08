import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { SEQUENCE_LEAP } from "../../src/dev/quiet_statements.ts";
import { configurations } from "./support/configurations.ts";
import { done, refused } from "./support/ended.ts";
import { rowsIn, tablesIn, withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { reportRecording } from "./support/recordings.ts";
import { npmRun, startServer } from "./support/server.ts";

const { folder, aConfiguration } = configurations();

describe("Two databases", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let state: string;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  const file = join(folder, "two.sql");
  let backedUp: string;

  beforeAll(async () => {
    server = await startServer({ ownData: "two", flags: ["--shards", "2"] });
    state = join(server.persistTo, "two");
    clinic = await anOrganization(server.url);
    const provider = await clinic.addUser("paula", "provider");
    await reportRecording(clinic, provider, randomUUID(), "recording.ogg");
    await server.stop();
    backedUp = await done(run("backup", "--output", file));
  });

  /** Uses the configuration of `npm run dev -- --shards 2`, which binds both databases. */
  const runIn = (folder: string, command: string, ...args: string[]) =>
    npmRun(command, "--", "--config", ".wrangler-2.toml", "--persist-to", folder, ...args);

  const run = (command: string, ...args: string[]) => runIn(state, command, ...args);

  /** The rows of the directory about the other database. */
  const directoryIn = (folder: string) =>
    withDatabases(folder, (databases) =>
      ["shards", "places"].map((table) => rowsIn(databases.get(0), table)),
    );

  it("are restored from their backups as they were, but quiet, with later ids in their ranges", async () => {
    expect(backedUp).toMatch(/Shard 1, 1 of 2\n[\s\S]*Shard 0, 2 of 2\n/);
    expect(existsSync(file)).toBe(false);
    expect(await refused(run("backup", "--output", file))).toContain("does not overwrite an older one");
    const copy = join(folder, "copy");
    expect(await done(runIn(copy, "restore", "--input", file))).toContain("npm run deploy -- --local");
    // People who are added to a planned visit get later ids too.
    const restored = (...of: Parameters<typeof rowsIn>) =>
      rowsIn(...of).map((row) => row.replace(/"last_participant_id":\d+,/, ""));
    const changed = ["database_settings", "sequences", "webhook_endpoints", "webhook_deliveries"];
    withDatabases(state, (originals) =>
      withDatabases(copy, (copies) => {
        expect([...copies.keys()]).toEqual([0, 1]);
        for (const [range, original] of originals)
          for (const table of tablesIn(original).filter((each) => !changed.includes(each)))
            expect(restored(copies.get(range), table), table).toEqual(restored(original, table));
        for (const [range, database] of copies) {
          const rows = database
            .prepare("select name, seq from sqlite_sequence where name <> 'd1_migrations'")
            .all();
          for (const { name, seq } of rows) expect(Math.floor(Number(seq) / RANGE), String(name)).toBe(range);
          for (const { seq } of rows) expect(Number(seq) % RANGE).toBeGreaterThanOrEqual(SEQUENCE_LEAP);
        }
      }),
    );
    expect((await done(runIn(copy, "restore", "--resume"))).match(/Resumed\./g)).toHaveLength(2);
  });

  it("are not restored while a file is missing", async () => {
    const incomplete = join(folder, "incomplete.sql");
    copyFileSync(`${file}.0`, `${incomplete}.0`);
    const copy = ["--persist-to", join(folder, "incomplete")];
    const restored = await refused(npmRun("restore", "--", ...copy, "--input", incomplete));
    expect(restored).toContain("Before you serve requests, run `npm run deploy -- --local --persist-to ");
    const advice = "1 organization lives in shard 1: bind its database, or restore its backup.";
    expect(restored).toContain(`THE BACKUP IS NOT COMPLETE:\n  There was no file for shard 1. ${advice}`);
  });

  it("are backed up one by one with --shard, and a file in the wrong database, or from before a move, is detected", async () => {
    const second = join(folder, "second.sql");
    await done(run("backup", "--output", second, "--shard", "1"));
    const args = ["--input", second, "--shard"];
    const misplaced = await refused(runIn(join(folder, "wrong"), "restore", ...args, "0"));
    expect(misplaced).toContain("DB now has the data of another database");

    const later = join(folder, "later");
    await done(runIn(later, "restore", "--input", `${file}.0`, "--shard", "0"));
    // A move to the database leaves this state: the directory has given it another range.
    withDatabases(later, (databases) => databases.get(0)?.exec("update shards set range = 5"));
    expect(await refused(runIn(later, "restore", ...args, "1"))).toContain(
      "DB_1 is as it was before an organization moved there.",
    );
  });

  it("agree again after the first one was restored to an earlier time", async () => {
    const project = aConfiguration("earlier", state);
    const before = directoryIn(project.state);
    withDatabases(project.state, (databases) =>
      databases.get(0)?.exec("delete from shards; delete from places where shard = 1"),
    );
    await done(project.run("shards:add"));
    const deploy = () => project.run("deploy", "--local");
    expect(await done(deploy())).toContain("Organizations missing in the first database and now entered: 1.");
    expect(directoryIn(project.state)).toEqual(before);

    withDatabases(project.state, (databases) =>
      databases.get(0)?.exec("update places set shard = 0 where shard = 1"),
    );
    expect(await refused(deploy())).toContain(
      `Organization ${clinic.organization.id} is in shard 1, but the first database has another entry`,
    );
  });
});
