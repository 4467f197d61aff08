import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, expect } from "vitest";
import { printsOf } from "../../support/prints.ts";
import { eventually } from "./eventually.ts";

const CLI = "dist/client/external/cli.js";

const started: ChildProcess[] = [];

afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
});

/** Starts the client package's command `listen` with the credentials of an API client, which may have a secret for webhooks. */
export function startListening(credentials: Record<string, string>, ...args: string[]) {
  const { "X-Client-ID": CLIENT_ID, "X-Client-Secret": CLIENT_SECRET, WEBHOOK_SECRET } = credentials;
  const child = spawn(process.execPath, [CLI, "listen", ...args], {
    env: { ...process.env, CLIENT_ID, CLIENT_SECRET, WEBHOOK_SECRET },
  });
  started.push(child);
  const { seen, ended } = printsOf(child);
  return {
    seen,
    ended,
    /** Waits until the command follows the events, and returns the secret. */
    async secret() {
      await eventually(() => expect(seen.stdout, seen.stderr).toContain("Press Ctrl-C to stop.\n"), 50);
      return /^Secret: (whsec_\S+)\n/.exec(seen.stdout)?.[1] ?? "";
    },
    /** The lines about events. */
    lines: () => seen.stdout.split("\n").slice(2, -1),
    /** Ends the command as Ctrl-C does. */
    stop() {
      child.kill("SIGINT");
      return ended;
    },
  };
}
