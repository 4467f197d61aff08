import { generateSQLiteDrizzleJson } from "drizzle-kit/api";
import { expect, it } from "vitest";
import {
  allTables,
  DIGESTS,
  digestLine,
  isDeployed,
  MIGRATED,
  migrationFiles,
  NEWEST_MIGRATION,
  readText,
  SNAPSHOT,
} from "../../src/dev/migrations.ts";

const change = isDeployed()
  ? "`npm run db:generate -- --name what_changed`"
  : "`npm run db:baseline`, which replaces the only migration";

it("Deployed migrations never change, and before the first deployment there is only one", () => {
  if (!isDeployed()) return expect(migrationFiles()).toHaveLength(1);
  for (const line of readText(DIGESTS).trimEnd().split("\n")) {
    const file = line.split("  ")[1] ?? "";
    expect(
      migrationFiles(),
      `${file} is gone. Databases have run it: restore it, and undo it in a new migration.`,
    ).toContain(file);
    expect(
      digestLine(file),
      `${file} was edited. Databases that have run it do not run it again: undo the edit, and write a new migration ` +
        "(npm run db:generate).",
    ).toBe(line);
  }
});

it.each(migrationFiles())("%s does not rely on PRAGMA foreign_keys, which has no effect on D1", (file) => {
  expect(
    readText(`drizzle/${file}`),
    `drizzle-kit was run directly: delete the migration and run ${change}.`,
  ).not.toMatch(/PRAGMA foreign_keys/i);
});

it("The service knows the newest migration, which it needs to be healthy", () => {
  const [, , newest] = NEWEST_MIGRATION.exec(readText(MIGRATED)) ?? [];
  expect(newest, `Correct NEWEST_MIGRATION in ${MIGRATED}.`).toBe(migrationFiles().at(-1));
});

it("The tables in src are those of the last migration", async () => {
  const { tables } = JSON.parse(readText(SNAPSHOT));
  const wanted = await generateSQLiteDrizzleJson(await allTables());
  expect(
    JSON.parse(JSON.stringify(wanted.tables)),
    `A table has changes without a migration: run ${change}.`,
  ).toEqual(tables);
});
