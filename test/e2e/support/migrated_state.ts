import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { withLocalBindings } from "../../../src/dev/local_bindings.ts";
import { applyMigrations } from "../../../src/dev/local_database.ts";
import { runWith } from "../../../src/dev/statement_runner.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder with a local database that has all migrations and no rows. */
    migratedState: string;
  }
}

/** Migrations take a second, so the servers of the tests start with copies of one database. */
export default async function migrateOnce({ provide }: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), "video-visits-migrated-"));
  await withLocalBindings({ persistTo: folder }, (env) => applyMigrations(runWith(env)));
  provide("migratedState", folder);
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
