import { type SpawnOptions, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, inject } from "vitest";
import { DEMO_CLIENT } from "../../../src/dev/demo_organization.ts";
import { printsOf } from "../../support/prints.ts";
import { npm, startDevServer, startServerAlone } from "./dev_server.ts";

/** Where the servers of a file of tests keep their data and their temporary files; made with the first of them. */
let folder: string | undefined;

/** How to end each server that runs. */
const running = new Set<() => Promise<void>>();

// Nothing stays behind, though a test failed, or a server never got ready.
afterAll(async () => {
  await Promise.all([...running].map((stop) => stop()));
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"));

/** Starts a command as npm does. Where npm would only start Node, so does this: npm takes half as long as the command. */
function startCommand(name: string, args: string[], options: SpawnOptions) {
  const file = /^node (\S+)$/.exec(scripts[name] ?? "")?.[1];
  return file
    ? spawn(process.execPath, [file, ...args], options)
    : npm(["run", "--silent", name, "--", ...args], options);
}

/** Runs one of the project's commands to its end, as `npm run name -- args` does. */
export function npmRun(name: string, _: "--", ...args: string[]) {
  return printsOf(startCommand(name, args, { stdio: ["ignore", "pipe", "pipe"] })).ended;
}

/**
 * A server for tests that the shared one does not suit. Its data is that of the file's earlier servers, or data of its own,
 * which begins as a migrated database. It ends with the file's last test, if it is not stopped before.
 */
export async function startServer({
  flags = [],
  inspectorPort = 0,
  ownData,
  start = flags.includes("--shards") ? startDevServer : startServerAlone,
}: {
  flags?: string[];
  inspectorPort?: number;
  ownData?: string;
  start?: typeof startDevServer | typeof startServerAlone;
} = {}) {
  folder ??= mkdtempSync(join(tmpdir(), "video-visits-"));
  const data = ownData ? join(folder, ownData) : folder;
  if (!existsSync(join(data, "v3")))
    cpSync(join(inject("migratedState"), "v3"), join(data, "v3"), { recursive: true });
  const { ready, output, ended, stop, kill } = start({ data, temporary: folder, flags, inspectorPort });
  running.add(stop);
  ended.then(() => running.delete(stop));
  return { ...(await ready), output, persistTo: folder, stop, kill };
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** A way to send JSON and read JSON with some credentials. */
export function caller(base: string, credentials: Record<string, string>) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(base + path, {
      method,
      headers: { ...credentials, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  };
}

/** The token that `npm run dev` gave the server. */
export const platformToken = () => parseEnv(readFileSync(".dev.vars", "utf8")).PLATFORM_API_TOKEN;

/** The way in of the demo organization. */
export const demoCaller = (url: string) =>
  caller(`${url}/api/external`, {
    "X-Client-ID": DEMO_CLIENT.client_id,
    "X-Client-Secret": DEMO_CLIENT.client_secret,
  });

/** The platform's way in. */
export const platformCaller = (url: string) =>
  caller(`${url}/api/platform`, { Authorization: `Bearer ${platformToken()}` });
