/**
 * What the Worker finds around it, on this machine: a real local D1 in a folder of its own, and settings.
 *
 * The clock stands still for the whole run. So a looked-up client stays fresh (no look-up in the background gets into a
 * measurement), and what ours and the floor write at the same time is the same to the letter.
 */
import { timingSafeEqual } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runWrangler } from "../../src/dev/wrangler.ts";

export const PLATFORM_TOKEN = "bench-platform-token-of-32-characters";

export const LIVEKIT_KEY = "bench-livekit-key";
export const LIVEKIT_SECRET = "bench-livekit-secret-of-32-characters";

const SETTINGS = {
  PUBLIC_URL: "",
  CONTACT: "",
  CLIENT_LIMIT_PER_MINUTE: "1200",
  FAILURE_LIMIT_PER_MINUTE: "60",
  PLATFORM_API_TOKEN: PLATFORM_TOKEN,
  APP_URL: "http://localhost:3000",
  INVITE_TOKEN_SECRET: "bench-invite-secret-of-32-characters",
  LIVEKIT_API_KEY: LIVEKIT_KEY,
  LIVEKIT_API_SECRET: LIVEKIT_SECRET,
  RECORDINGS_S3_ENDPOINT: "/cdn-cgi/local/r2/s3",
  RECORDINGS_S3_ACCESS_KEY_ID: "local-access-key",
  RECORDINGS_S3_SECRET_ACCESS_KEY: "local-secret-key",
};

export interface LocalPlatform {
  database: D1Database;
  /** The Worker's bindings, around whatever stands in for its database. */
  envWith(database: D1Database): Env;
  dispose(): Promise<void>;
}

export async function openLocalPlatform(): Promise<LocalPlatform> {
  likeWorkers();
  // Of wrangler only failures are worth a line.
  process.env.WRANGLER_LOG ??= "error";
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  runWrangler(["d1", "migrations", "apply", "DB", "--local", "--persist-to", folder]);
  // Loaded only here: it takes far more memory than the Worker.
  const { getPlatformProxy } = await import("wrangler");
  const { env, dispose } = await getPlatformProxy<Env>({ persist: { path: join(folder, "v3") } });
  return {
    database: env.DB,
    envWith: (DB) => bindings(DB, env.RECORDINGS),
    async dispose() {
      await dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The Worker's bindings, with its settings. */
export const bindings = (DB: D1Database, RECORDINGS: R2Bucket): Env => ({
  ...SETTINGS,
  DB,
  BULK_INVITES: idleQueue,
  WEBHOOKS: idleQueue,
  RECORDINGS,
  CLIENT_LIMIT: noLimit,
  FAILURE_LIMIT: noLimit,
});

/** What counting costs is the platform's affair, and there is no end to a benchmark's requests. */
const noLimit: RateLimit = { limit: async () => ({ success: true }) };

/** Takes messages at once: what a send costs is the platform's affair, and the same for ours and the floor. */
const idleQueue = { send: async () => {}, sendBatch: async () => {} } as unknown as Env["BULK_INVITES"];

/** What Workers have and Node lacks, the clock, and silence: a request's log line is made, and goes nowhere. */
export function likeWorkers() {
  Object.assign(crypto.subtle, {
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => timingSafeEqual(a, b),
  });
  const started = Date.now();
  Date.now = () => started;
  Object.assign(console, { log: () => {} });
}
