/** The Worker's bindings to what is on this machine, reached within this process: each command of wrangler would start a runtime. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfiguration } from "./wrangler_config.ts";

interface LocalState {
  persistTo: string;
  config?: string;
  environment?: string | undefined;
}

/** Runs something with the bindings of the Worker, and the local data that a server with the same flags has. */
export async function withLocalBindings<Result>(state: LocalState, run: (env: Env) => Promise<Result>) {
  const { env, dispose } = await openLocalBindings(state);
  try {
    return await run(env);
  } finally {
    await dispose();
  }
}

/** Only the databases, until `dispose` is called: before, the process does not end. The other bindings take a second to start. */
export async function openLocalDatabases({
  config,
  environment,
  persistTo,
}: LocalState & { config: string }) {
  const folder = mkdtempSync(join(tmpdir(), "databases-"));
  try {
    const { d1_databases } = readConfiguration({ config, env: environment });
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
    // Loaded only when it is needed: that takes seconds, also for a command that only says how it is used.
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
