import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";
import { runWrangler } from "../../src/dev/wrangler.ts";

/** An empty local D1 with all migrations, in a folder of its own. */
export async function openLocalDatabase() {
  // Of wrangler only failures are worth a line.
  process.env.WRANGLER_LOG ??= "error";
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  runWrangler(["d1", "migrations", "apply", "DB", "--local", "--persist-to", folder]);
  const { env, dispose } = await getPlatformProxy<Env>({ persist: { path: join(folder, "v3") } });
  return {
    database: env.DB,
    async close() {
      await dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
