/**
 * Generates the secrets of `npm run setup`. Cloudflare never shows a secret again, so they are first written to a file, which
 * the operator moves into a password manager.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { writePrivateFile } from "./private_file.ts";
import type { Target } from "./wrangler.ts";

const randomText = () => randomBytes(32).toString("base64url");

/** An Ed25519 key as a JWK (RFC 8037). */
function signingKey(): string {
  const { kty, crv, x, d } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return JSON.stringify({ kty, crv, x, d });
}

const GENERATORS: Record<string, () => string> = {
  PLATFORM_API_TOKEN: randomText,
  INVITE_TOKEN_SECRET: randomText,
  DIGEST_SECRET: randomText,
  AUDIT_SIGNING_KEY: signingKey,
};

export const RANDOM_SECRETS = Object.keys(GENERATORS);

/** The secrets that the operator must set: setup cannot know their values. */
export const SECRETS_BY_HAND = [
  "APP_URL",
  "RECORDINGS_S3_ENDPOINT",
  "RECORDINGS_S3_ACCESS_KEY_ID",
  "RECORDINGS_S3_SECRET_ACCESS_KEY",
];

export const secretsFile = ({ config, env }: Pick<Target, "config" | "env">) =>
  join(dirname(config), `${env ?? "production"}.secrets`);

/** Uses values from the file, which an interrupted run or the operator has left there. Writes new values to it first. */
export async function makeSecrets(file: string, names: string[]): Promise<Record<string, string>> {
  const known = parseEnv(existsSync(file) ? readFileSync(file, "utf8") : "");
  const added = names.filter((name) => !known[name]);
  const all = { ...known, ...Object.fromEntries(added.map((name) => [name, GENERATORS[name]?.() ?? ""])) };
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  if (added.length > 0) await writePrivateFile(file, lines);
  return Object.fromEntries(names.map((name) => [name, all[name] ?? ""]));
}
