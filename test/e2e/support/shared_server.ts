import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startDevServer } from "./dev_server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * A newcomer's `npm run dev`, for all tests that need no other server. Each test creates its own organization.
     * `curl` is the curl line that the command has printed.
     */
    sharedServer: { url: string; curl: string };
  }
}

export default async function startSharedServer({ provide }: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), "video-visits-shared-"));
  const server = startDevServer({ data: folder, temporary: folder });
  async function stop() {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  try {
    provide("sharedServer", await server.ready);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
