import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { runWrangler } from "../../../src/dev/wrangler.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder with a local database that has all migrations and no rows. */
    migratedState: string;
  }
}

/** wrangler takes many seconds for the migrations, so the servers of the tests begin with copies of one database. */
export default function migrateOnce({ provide }: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), "video-visits-migrated-"));
  runWrangler(["d1", "migrations", "apply", "DB", "--local", "--persist-to", folder]);
  provide("migratedState", folder);
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
