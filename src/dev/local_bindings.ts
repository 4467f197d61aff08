/** Opens the Worker's local bindings within this process, because each command of wrangler would start a runtime. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfiguration } from "./wrangler_config.ts";

interface LocalState {
  persistTo: string;
  config?: string;
  environment?: string | undefined;
}

/** Calls `run` with the Worker's bindings to the local data of a server with the same flags. */
export async function withLocalBindings<Result>(state: LocalState, run: (env: Env) => Promise<Result>) {
  const { env, dispose } = await openLocalBindings(state);
  try {
    return await run(env);
  } finally {
    await dispose();
  }
}

/** Opens only the databases: the other bindings take a second to start. The process does not end before `dispose` is called. */
export async function openLocalDatabases({ persistTo, ...state }: LocalState & { config: string }) {
  const folder = mkdtempSync(join(tmpdir(), "databases-"));
  try {
    const { d1_databases } = readConfiguration({ config: state.config, env: state.environment });
    const databases = join(folder, "wrangler.json");
    writeFileSync(databases, JSON.stringify({ d1_databases }));
    return await openLocalBindings({ persistTo, config: databases });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function openLocalBindings({ persistTo, config = "wrangler.toml", environment }: LocalState) {
  const outer = process.env;
  process.env = { ...outer, WRANGLER_LOG: "error" };
  try {
    // Imported only here, because that takes seconds: `--help` must not wait for it.
    const { getPlatformProxy } = await import("wrangler");
    return await getPlatformProxy<Env>({
      configPath: config,
      environment,
      persist: { path: join(persistTo, "v3") },
    });
  } finally {
    process.env = outer;
  }
}
