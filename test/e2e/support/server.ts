import { type SpawnOptions, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { printsOf } from "../../support/prints.ts";
import { npm, startDevServer, startServerAlone } from "./dev_server.ts";

/** The folder for the data and temporary files of a test file's servers. The first server creates it. */
let folder: string | undefined;

const running = new Set<() => Promise<void>>();

// Cleans up even if a test failed or a server never became ready.
afterAll(async () => {
  await Promise.all([...running].map((stop) => stop()));
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"));

/** Starts a command as npm does. If npm would only start Node, starts Node itself: npm takes half as long as the command. */
function startCommand(name: string, args: string[], options: SpawnOptions) {
  const file = /^node (\S+)$/.exec(scripts[name] ?? "")?.[1];
  return file
    ? spawn(process.execPath, [file, ...args], options)
    : npm(["run", "--silent", name, "--", ...args], options);
}

export function npmRun(name: string, _: "--", ...args: string[]) {
  return printsOf(startCommand(name, args, { stdio: ["ignore", "pipe", "pipe"] })).ended;
}

/**
 * A server for tests that the shared one does not suit. It uses the data of the file's earlier servers or, with
 * `ownData`, its own data. Data starts as a migrated database. The server stops after the file's last test, if it was
 * not stopped before.
 */
export async function startServer({
  flags = [],
  inspectorPort = 0,
  heapLimit,
  ownData,
  start = flags.includes("--shards") ? startDevServer : startServerAlone,
}: {
  flags?: string[];
  inspectorPort?: number;
  /** In MB: the heap that V8 gives each isolate of the server. A request that needs more fails, and so do concurrent ones. */
  heapLimit?: number;
  ownData?: string;
  start?: typeof startDevServer | typeof startServerAlone;
} = {}) {
  folder ??= mkdtempSync(join(tmpdir(), "video-visits-"));
  const data = ownData ? join(folder, ownData) : folder;
  if (!existsSync(join(data, "v3")))
    cpSync(join(inject("migratedState"), "v3"), join(data, "v3"), { recursive: true });
  const { ready, output, ended, stop, kill } = start({
    data,
    temporary: folder,
    flags,
    inspectorPort,
    heapLimit,
  });
  running.add(stop);
  ended.then(() => running.delete(stop));
  return { ...(await ready), output, persistTo: folder, stop, kill };
}

export type Server = Awaited<ReturnType<typeof startServer>>;
