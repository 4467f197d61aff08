import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { startDevServer } from "./support/dev_server.ts";

/** A terminal sends Ctrl-C to all processes of the command. Windows has no such signals. */
it.skipIf(process.platform === "win32").each([
  ["Ctrl-C", "SIGINT", (npm: number) => -npm],
  ["npm alone gets SIGTERM", "SIGTERM", (npm: number) => npm],
] as const)("npm run dev ends with all processes that it started: %s", async (_, signal, receiver) => {
  const folder = mkdtempSync(join(tmpdir(), "video-visits-dev-"));
  const server = startDevServer({ data: folder, temporary: folder });
  onTestFinished(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const { url } = await server.ready;
  const npm = Number(server.pid);
  process.kill(receiver(npm), signal);
  await server.ended;
  // npm leads its own process group. A signal of 0 only checks whether the group has a process.
  await vi.waitFor(() => expect(() => process.kill(-npm, 0)).toThrow("ESRCH"), { timeout: 20_000 });
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});
