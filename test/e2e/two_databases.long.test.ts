import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { SEQUENCE_LEAP } from "../../src/dev/quiet_statements.ts";
import { configurations } from "./support/configurations.ts";
import { rowsIn, tablesIn, withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { npmRun, startServer } from "./support/server.ts";

const { folder, aConfiguration } = configurations();

describe("Two databases", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let state: string;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  const key = randomUUID();

  beforeAll(async () => {
    server = await startServer({ ownData: "two", flags: ["--shards", "2"] });
    state = join(server.persistTo, "two");
    clinic = await anOrganization(server.url);
    const provider = await clinic.addUser("paula", "provider");
    const call = {
      waiting_room_slug: provider.waiting_room_slug,
      organization_user_id: provider.id,
      started_at: "2026-01-31T09:30:00Z",
      ended_at: "2026-01-31T10:00:00Z",
    };
    const { id, slug } = clinic.organization;
    const egress = { call_key: key, status: "egress_ended", storage_key: `${slug}/${key}.ogg` };
    for (const [path, body] of [
      [`/calls/${key}`, { call }],
      [`/egresses/${key}`, { egress }],
    ] as const)
      expect((await clinic.platform("PUT", `/organizations/${id}${path}`, body)).status).toBe(200);
    await server.stop();
  });

  /** With the configuration of `npm run dev -- --shards 2`, which binds both. */
  const runIn = (folder: string, command: string, ...args: string[]) =>
    npmRun(command, "--", "--config", ".wrangler-2.toml", "--persist-to", folder, ...args);

  const run = (command: string, ...args: string[]) => runIn(state, command, ...args);

  /** What the directory knows of the other database. */
  const directoryIn = (folder: string) =>
    withDatabases(folder, (databases) =>
      ["shards", "places"].map((table) => rowsIn(databases.get(0), table)),
    );

  it("are measured, each with its organizations", async () => {
    const { code, output } = await run("sizes");
    expect(code, output).toBe(0);
    const [, first, second] = output.split(/^Shard \d:$/m);
    expect(first).toMatch(/demo-clinic +calls +\d/);
    expect(second).not.toContain("demo-clinic");
    expect(second).toMatch(
      new RegExp(`^${clinic.organization.id} +${clinic.organization.slug} +calls +1 `, "m"),
    );
    expect((await run("sizes", "--shard", "1")).output.trim()).toBe(second?.replace(/^Shard.*/m, "").trim());
  });

  it("are backed up and restored, and the copies are the same, but quiet, with later ids in their ranges", async () => {
    const file = join(folder, "two.sql");
    const backedUp = await run("backup", "--output", file);
    expect(backedUp.code, backedUp.output).toBe(0);
    expect(backedUp.output).toMatch(/Shard 1, 1 of 2\n[\s\S]*Shard 0, 2 of 2\n/);
    expect(existsSync(file)).toBe(false);
    expect((await run("backup", "--output", file)).output).toContain("an older backup is not overwritten");
    const copy = join(folder, "copy");
    const restored = await runIn(copy, "restore", "--input", file);
    expect(restored.code, restored.output).toBe(0);
    expect(restored.output).toContain("npm run deploy -- --local");
    const changed = ["database_settings", "sequences", "webhook_endpoints", "webhook_deliveries"];
    withDatabases(state, (originals) =>
      withDatabases(copy, (copies) => {
        expect([...copies.keys()]).toEqual([0, 1]);
        for (const [range, original] of originals)
          for (const table of tablesIn(original).filter((each) => !changed.includes(each)))
            expect(rowsIn(copies.get(range), table), table).toEqual(rowsIn(original, table));
        for (const [range, database] of copies) {
          const rows = database
            .prepare("select name, seq from sqlite_sequence where name <> 'd1_migrations'")
            .all();
          for (const { name, seq } of rows) expect(Math.floor(Number(seq) / RANGE), String(name)).toBe(range);
          for (const { seq } of rows) expect(Number(seq) % RANGE).toBeGreaterThanOrEqual(SEQUENCE_LEAP);
        }
      }),
    );
    const resumed = await runIn(copy, "restore", "--resume");
    expect(resumed.output.match(/Resumed\./g)).toHaveLength(2);
  });

  it("are not taken for restored while a file is missing, and the one that is missing is not made anew", async () => {
    const file = join(folder, "incomplete.sql");
    expect((await run("backup", "--output", `${file}.0`, "--shard", "0")).code).toBe(0);
    const copy = ["--persist-to", join(folder, "incomplete")];
    const restored = await npmRun("restore", "--", ...copy, "--input", file);
    expect(restored.code).toBe(1);
    expect(restored.output).toContain(
      "Before anything else is served, run `npm run deploy -- --local --persist-to ",
    );
    const advice = "1 organization lives in shard 1: bind its database, or restore its backup.";
    expect(restored.output).toContain(
      `THE BACKUP IS NOT COMPLETE:\n  There was no file of shard 1. ${advice}`,
    );
    const added = await npmRun("shards:add", "--", ...copy);
    expect(added.code).toBe(1);
    expect(added.output).toContain(advice);
  });

  it("are backed up one by one with --shard, and a file in the wrong database is found", async () => {
    const file = join(folder, "second.sql");
    expect((await run("backup", "--output", file, "--shard", "1")).code).toBe(0);
    const [right, wrong] = ["right", "wrong"].map((name) => join(folder, name));
    const args = ["--input", file, "--shard"];
    const restored = await runIn(right ?? "", "restore", ...args, "1");
    expect(restored.code, restored.output).toBe(0);
    const misplaced = await runIn(wrong ?? "", "restore", ...args, "0");
    expect(misplaced.code).toBe(1);
    expect(misplaced.output).toContain("The file of another database is now in DB");
  });

  it("agree again after the first one was restored from an earlier time", async () => {
    const project = aConfiguration("earlier", state);
    const before = directoryIn(project.state);
    withDatabases(project.state, (databases) =>
      databases.get(0)?.exec("delete from shards; delete from places where shard = 1"),
    );
    const added = await project.run("shards:add");
    expect(added.code, added.output).toBe(0);
    const deploy = () => project.run("deploy", "--local");
    const { code, output } = await deploy();
    expect(code, output).toBe(0);
    expect(output).toContain("Organizations that the first database did not know, and now knows: 1.");
    expect(directoryIn(project.state)).toEqual(before);
    expect((await deploy()).output).not.toContain("did not know");

    withDatabases(project.state, (databases) =>
      databases.get(0)?.exec("update places set shard = 0 where shard = 1"),
    );
    const conflict = await deploy();
    expect(conflict.code).toBe(1);
    expect(conflict.output).toContain(
      `Organization ${clinic.organization.id} is in shard 1, and the first database says something else`,
    );
  });

  it("are left by an organization that moves, and each is still the one that its binding says", async () => {
    const project = aConfiguration("moved", state);
    expect((await project.run("shards:add")).code).toBe(0);
    const { id } = clinic.organization;
    const move = (...args: string[]) =>
      project.run("organizations:move", "--organization", String(id), ...args);
    const calls = () =>
      withDatabases(project.state, (databases) =>
        [0, 1].map((range) =>
          rowsIn(databases.get(range), "calls").filter((row) => row.includes(`"organization_id":${id},`)),
        ),
      );
    const [before, there] = calls();
    expect([before?.length, there?.length]).toEqual([0, 1]);
    const moved = await move("--to", "0");
    expect(moved.code, moved.output).toBe(0);
    expect(moved.output).toMatch(/It has moved, with \d+ rows\. Its writes were refused for \d+ ms\./);
    expect(calls()).toEqual([there, there]);

    const deployed = await project.run("deploy", "--local");
    expect(deployed.code, deployed.output).toBe(0);
  });
});
