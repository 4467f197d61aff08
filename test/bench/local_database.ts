import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyMigrations, withLocalBindings } from "../../src/dev/local_database.ts";

/** Runs something with an empty local D1 with all migrations, in a folder of its own. */
export async function withLocalDatabase(run: (database: D1Database) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  await withLocalBindings({ persistTo: folder }, async ({ DB }) => {
    await applyMigrations(DB);
    await run(DB);
  }).finally(() => rmSync(folder, { recursive: true, force: true }));
}
