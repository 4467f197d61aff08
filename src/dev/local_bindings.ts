/** The Worker's bindings to what is on this machine, reached within this process: each command of wrangler would start a runtime. */
import { join } from "node:path";

interface LocalState {
  persistTo: string;
  config?: string;
  environment?: string;
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

/** The same bindings, until `dispose` is called: before, the process does not end. */
export async function openLocalBindings({ persistTo, config = "wrangler.toml", environment }: LocalState) {
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
