import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { migratedDatabase, migrationFiles } from "../../src/dev/migrations.ts";
import { definitionsIn } from "../../src/dev/triggers.ts";
import { aCopyOf } from "./support/copied_project.ts";
import { writeVariedRows } from "./support/varied_rows.ts";

/** A copy of the files that the commands use, in which they may write. */
function aProject() {
  const folder = aCopyOf("drizzle", "src", "package.json");
  rmSync(join(folder, "drizzle/SHA256SUMS"), { force: true });
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  function command(script: string) {
    const flags = [`src/dev/${script}.ts`, ...(script === "baseline" ? [] : ["--name", "what_changed"])];
    return spawnSync(process.execPath, flags, { cwd: folder, encoding: "utf8" });
  }
  function edit(path: string, from: string, to: string) {
    expect(read(path)).toContain(from);
    writeFileSync(join(folder, path), read(path).replace(from, to));
  }
  return {
    read,
    edit,
    /** Adds the column `mood` to participants. */
    addColumn: () =>
      edit(
        "src/calls/participants/participants.table.ts",
        "recording_consent: integer(",
        "mood: text(),\n    $&",
      ),
    /** The first step of `npm run deploy`. */
    deploy() {
      const script = 'import("./src/dev/migrations.ts").then(({ recordMigrations }) => recordMigrations())';
      return spawnSync(process.execPath, ["-e", script], { cwd: folder, encoding: "utf8" }).stdout;
    },
    refusal: (script: string) => command(script).stderr,
    run(script: string) {
      const { stdout, stderr } = command(script);
      expect(stderr).not.toContain("Error");
      const file = /drizzle[\\/](\d{4}_\w+\.sql)/.exec(stdout)?.[1];
      return { stdout, file, migration: file ? read(`drizzle/${file}`) : undefined };
    },
  };
}

const METRICS = "src/calls/call_metrics/call_daily_metrics.triggers.sql";
const TOTALS = "src/database/list_totals.triggers.sql";
const CONFLICTS = "src/database/write_conflicts.triggers.sql";

function aDeployedProject() {
  const project = aProject();
  project.deploy();
  return project;
}

it("npm run db:baseline replaces the only migration before the first deployment, and the service then requires it", () => {
  const project = aProject();
  project.addColumn();
  project.edit(CONFLICTS, "`write_conflict`", "`refuse_all`");
  expect(project.refusal("generate_migration")).toMatch(/use `npm run db:baseline`, which replaces/);
  const { file = "", migration = "" } = project.run("baseline");
  expect(file).toMatch(/^0000_baseline_[0-9a-f]{8}\.sql$/);
  expect(migrationFiles()).not.toContain(file);
  expect(migration).toMatch(/`mood` text/);
  expect(migration).toMatch(/CREATE TRIGGER `refuse_all`/);
  expect(project.read("src/database/migrated.ts")).toContain(`"${file}"`);
  expect(project.run("baseline").file).toBe(file);
});

it("npm run db:generate changes tables and changed triggers, and rebuilds the data that these maintain", () => {
  const project = aDeployedProject();
  project.edit(METRICS, "role = 'recipient' AND", "role <> 'provider' AND");
  project.edit(CONFLICTS, "`write_conflict`", "`refuse_all`");
  project.edit(TOTALS, "-- The invites that", "-- Only a comment: the invites that");
  const counting = /CREATE TRIGGER `egress_audit_logs_listed_inserted`[\s\S]*?^END;$/m;
  const [removed = ""] = counting.exec(project.read(TOTALS)) ?? [];
  project.edit(TOTALS, removed, "");
  project.edit(
    "src/results/egress_audit_logs/audited_fields.ts",
    'ended_at: "time",',
    'ended_at: "time",\n  call_id: "text",',
  );
  project.addColumn();
  const { migration = "" } = project.run("generate_migration");
  const statements = migration.split("--> statement-breakpoint").map((each) => each.trim().split("\n")[0]);
  expect(statements).toEqual([
    "DROP TRIGGER `call_metric_contribution`;",
    "DROP TRIGGER `egress_audit_logs_listed_inserted`;",
    "DROP TRIGGER `write_conflict`;",
    "DROP TRIGGER `egresses_created`;",
    "DROP TRIGGER `egresses_claimed`;",
    "DROP TRIGGER `egresses_updated`;",
    "DROP VIEW `call_metric_contributions`;",
    "ALTER TABLE `participants` ADD `mood` text;",
    "CREATE VIEW `call_metric_contributions` AS",
    "CREATE TRIGGER `call_metric_contribution` INSTEAD OF INSERT ON `call_metric_contributions`",
    "CREATE TRIGGER `refuse_all` BEFORE INSERT ON `write_conflicts`",
    "CREATE TRIGGER `egresses_created` AFTER INSERT ON `egresses`",
    "CREATE TRIGGER `egresses_claimed` AFTER UPDATE OF call_id ON `egresses`",
    "CREATE TRIGGER `egresses_updated` AFTER UPDATE ON `egresses`",
    expect.stringMatching(/^-- Sums every contribution again/),
    expect.stringMatching(/^-- Counts every list again/),
  ]);

  expect(migration).toContain("new.call_id");
  expect(project.run("generate_migration").stdout).toContain("no migration is needed");
});

it("npm run db:generate rebuilds tables on D1 without losing a row, a key, an id or a trigger", () => {
  const project = aDeployedProject();
  project.edit(
    "src/calls/calls/calls.table.ts",
    'end_is_assumed: integer({ mode: "boolean" }).notNull().default(false)',
    "end_is_assumed: integer()",
  );
  project.edit("src/rooms/waiting_rooms/waiting_rooms.table.ts", "theme: text().notNull()", "theme: text()");
  project.edit(
    "src/calls/participants/participants.table.ts",
    'left_is_assumed: integer({ mode: "boolean" }).notNull().default(false)',
    "left_is_assumed: integer()",
  );
  const { migration = "" } = project.run("generate_migration");
  expect(migration.match(/(?<=RENAME TO `)\w+/g)).toEqual(["calls", "participants", "waiting_rooms"]);

  const database = migratedDatabase();
  writeVariedRows(database);
  const everything = () => [
    definitionsIn(database)
      .map(({ name }) => name)
      .sort(),
    ["calls", "participants", "call_daily_metrics", "list_totals", "sqlite_sequence"].map((table) =>
      database.prepare(`select * from ${table} order by 1, 2`).all(),
    ),
  ];
  const before = everything();
  // Runs it in a transaction, as D1 does. drizzle-kit's own statements fail there.
  database.exec(`begin; ${migration}; commit`);
  expect(everything()).toEqual(before);
  expect(database.prepare("pragma foreign_key_check").all()).toEqual([]);
  expect(project.run("generate_migration").stdout).toContain("no migration is needed");
});

it("Once deployed, npm run db:generate adds a migration, whose digest deploy records, and refuses what D1 refuses", () => {
  const project = aProject();
  expect(project.deploy()).toMatch(/From now on migrations are only added/);
  expect(project.read("drizzle/SHA256SUMS")).toMatch(/^[0-9a-f]{64} {2}0000_baseline_[0-9a-f]{8}\.sql\n$/);
  expect(project.deploy()).toBe("");
  expect(project.refusal("baseline")).toMatch(/add a migration instead: use `npm run db:generate`/);
  project.addColumn();
  const { migration = "" } = project.run("generate_migration");
  expect(migration).toBe("ALTER TABLE `participants` ADD `mood` text;\n");
  project.deploy();
  const digest = createHash("sha256").update(migration).digest("hex");
  expect(project.read("drizzle/SHA256SUMS")).toMatch(new RegExp(`\\n${digest}  \\d{4}_what_changed.sql\\n$`));
  const term = "SELECT 'invites', organization_id, count(*) FROM invites WHERE used_at IS NULL GROUP BY 2";
  project.edit("src/database/list_totals.rebuild.sql", term, Array(6).fill(term).join(" UNION "));
  expect(project.refusal("generate_migration")).toMatch(
    /list_totals\.rebuild\.sql does not fit.*too many terms in compound SELECT/,
  );
});
