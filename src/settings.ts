import * as z from "zod";
import { jsonOrUndefined } from "./bytes/json.ts";
import { isOfRegion, type RegionOfShard, readRegions } from "./database/shards.ts";
import { isLoopback } from "./http/loopback.ts";
import { emailAddress, themeName } from "./http/wire.ts";
import { DEFAULT_INVITE_VALIDITY_DAYS, MAX_INVITE_VALIDITY_DAYS } from "./lifetimes.ts";
import { MIN_HMAC_KEY_LENGTH, MIN_LIVEKIT_SECRET_LENGTH, MIN_PLATFORM_TOKEN_LENGTH } from "./limits.ts";
import { lazily } from "./memory.ts";

/** LiveKit's tools accept the address with ws or http. The service sends its requests over http. */
const livekitUrl = lazily(() =>
  z
    .url({ protocol: /^(https?|wss?)$/, error: "must be a URL with https:// or wss://" })
    .transform((url) => url.replace(/^ws/i, "http").replace(/\/+$/, "")),
);

/** Parsed as a URL that has only a host and perhaps a port. */
const ownHost = lazily(() =>
  z
    .string()
    .trim()
    .regex(/^[^\s/?#@\\]+$/, "must be host names, separated by commas")
    .transform((host) => `http://${host}`)
    .refine((url) => URL.canParse(url), "must be host names, separated by commas"),
);

/** 32 bytes as base64url, as a JWK writes them. */
const bytesOfKey = lazily(() => z.string().regex(/^[A-Za-z0-9_-]{43}$/));

const publicKey = lazily(() =>
  z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: bytesOfKey() }),
);

/** An Ed25519 key as a JWK (RFC 8037), without its optional members. */
export type PublicKey = z.output<ReturnType<typeof publicKey>>;

/** A setting written as JSON. Its error never quotes the text, which may be a secret. */
const jsonSetting = <Schema extends z.ZodType>(schema: Schema, error: string) =>
  z.string().transform((text, { addIssue }): z.output<Schema> => {
    const { data, success } = schema.safeParse(jsonOrUndefined(text));
    if (!success) addIssue({ code: "custom", message: error });
    return data as z.output<Schema>;
  });

const regionsOfShards = lazily(() =>
  z.string().transform((text, { addIssue }) => {
    const regions = readRegions(text);
    const message = 'must name the region of each database once, as in "0=us,1=eu"';
    if (!regions) addIssue({ code: "custom", message });
    return regions ?? new Map<number, string>();
  }),
);

const perMinute = lazily(() => z.coerce.number().int().positive());

const storageFields = lazily(() =>
  z.object({
    RECORDINGS_S3_ENDPOINT: z.string().regex(/^(https?:\/\/|\/)/, "must be a URL, or a path of this service"),
    RECORDINGS_S3_BUCKET: z.string().min(1).default("recordings"),
    RECORDINGS_S3_REGION: z.string().min(1).default("auto"),
    RECORDINGS_S3_ACCESS_KEY_ID: z.string().min(1),
    RECORDINGS_S3_SECRET_ACCESS_KEY: z.string().min(1),
  }),
);

/** src/docs/settings.md lists each with its default. */
const fields = lazily(() =>
  z.object({
    PUBLIC_URL: z.url().optional(),
    ALLOW_HTTP: z.enum(["true", "false"]).default("false"),
    CLIENT_LIMIT_PER_MINUTE: perMinute(),
    ORGANIZATION_LIMIT_PER_MINUTE: perMinute(),
    BULK_INVITE_LIMIT_PER_MINUTE: perMinute(),
    REDELIVERY_LIMIT_PER_MINUTE: perMinute(),
    ACCESS_LOG_LIMIT_PER_MINUTE: perMinute(),
    FAILURE_LIMIT_PER_MINUTE: perMinute(),
    PLATFORM_API_TOKEN: z.string().min(MIN_PLATFORM_TOKEN_LENGTH),
    PLATFORM_API_TOKEN_PREVIOUS: z.string().min(MIN_PLATFORM_TOKEN_LENGTH).optional(),
    PLATFORM_REPORTS_TOKEN: z.string().min(MIN_PLATFORM_TOKEN_LENGTH).optional(),
    PLATFORM_REPORTS_TOKEN_PREVIOUS: z.string().min(MIN_PLATFORM_TOKEN_LENGTH).optional(),
    PLATFORM_WEB_APP_TOKEN: z.string().min(MIN_PLATFORM_TOKEN_LENGTH).optional(),
    PLATFORM_WEB_APP_TOKEN_PREVIOUS: z.string().min(MIN_PLATFORM_TOKEN_LENGTH).optional(),
    WAITING_ROOM_THEMES: z
      .string()
      .transform((list) => list.split(","))
      .pipe(z.array(themeName()))
      .optional(),
    OWN_HOSTS: z
      .string()
      .default("")
      .transform((list) => list.split(",").filter((host) => host.trim() !== ""))
      .pipe(z.array(ownHost())),
    APP_URL: z.url().transform((url) => url.replace(/\/$/, "")),
    INVITE_TOKEN_SECRET: z.string().min(MIN_HMAC_KEY_LENGTH),
    DIGEST_SECRET: z.string().min(MIN_HMAC_KEY_LENGTH),
    INVITE_VALIDITY_DAYS: z.coerce
      .number()
      .int()
      .min(1)
      .max(MAX_INVITE_VALIDITY_DAYS)
      .default(DEFAULT_INVITE_VALIDITY_DAYS),
    AUDIT_SIGNING_KEY: jsonSetting(
      publicKey().extend({ d: bytesOfKey() }),
      "must be a private Ed25519 key as a JWK, with kty, crv, x and d",
    ).optional(),
    AUDIT_PUBLIC_KEYS: jsonSetting(
      z.array(publicKey()),
      "must be a JSON array of public Ed25519 keys as JWKs, with kty, crv and x",
    ).default([]),
    MAIL_FROM: emailAddress().optional(),
    VERSION: z.string().optional(),
    NEW_ORGANIZATIONS_SHARD: z.coerce.number().int().nonnegative().optional(),
    SHARD_REGIONS: regionsOfShards().optional(),
    DEFAULT_REGION: z.string().optional(),
    LIVEKIT_API_KEY: z.string().optional(),
    LIVEKIT_API_SECRET: z.string().min(MIN_LIVEKIT_SECRET_LENGTH).optional(),
    LIVEKIT_API_KEY_PREVIOUS: z.string().optional(),
    LIVEKIT_API_SECRET_PREVIOUS: z.string().min(MIN_LIVEKIT_SECRET_LENGTH).optional(),
    LIVEKIT_URL: livekitUrl().optional(),
    ...storageFields().shape,
  }),
);

export type Settings = z.output<ReturnType<typeof fields>>;

/** Optional settings, each with another one that it requires. */
const COMPANIONS = [
  ["LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"],
  ["LIVEKIT_API_SECRET", "LIVEKIT_API_KEY"],
  ["LIVEKIT_API_KEY_PREVIOUS", "LIVEKIT_API_SECRET_PREVIOUS"],
  ["LIVEKIT_API_SECRET_PREVIOUS", "LIVEKIT_API_KEY_PREVIOUS"],
  ["LIVEKIT_API_KEY_PREVIOUS", "LIVEKIT_API_KEY"],
  ["LIVEKIT_URL", "LIVEKIT_API_KEY"],
] as const;

const settingsSchema = lazily(() =>
  fields().superRefine((settings, { addIssue }) => {
    for (const [name, companion] of COMPANIONS)
      if (settings[name] !== undefined && settings[companion] === undefined)
        addIssue({ code: "custom", path: [companion], message: `must be set too, because ${name} is` });
    const { DEFAULT_REGION: region, SHARD_REGIONS: regions } = settings;
    if (region !== undefined && ![...(regions?.values() ?? [])].includes(region))
      addIssue({ code: "custom", path: ["DEFAULT_REGION"], message: "must be a region in SHARD_REGIONS" });
  }),
);

export type StorageSettings = z.output<ReturnType<typeof storageFields>>;

/** Names the invalid settings, never their values. */
export class SettingsError extends Error {
  override name = "SettingsError";
  readonly settings: string[];

  constructor(settings: string[], message: string) {
    super(message);
    this.settings = settings;
  }
}

/** An empty string counts as not set. */
const isSet = ([, value]: [string, unknown]) => typeof value !== "string" || value.trim() !== "";

const checkedSettings = new WeakMap<object, Settings>();

/**
 * Checked once per isolate.
 *
 * @throws SettingsError
 */
export function readSettings(env: object): Settings {
  const parsed = checkedSettings.get(env);
  if (parsed) return parsed;
  const settings = parseSettings(settingsSchema(), env);
  checkedSettings.set(env, settings);
  return settings;
}

/** @throws SettingsError */
export const readStorageSettings = (env: object): StorageSettings => parseSettings(storageFields(), env);

function parseSettings<Parsed>(schema: z.ZodType<Parsed>, env: object): Parsed {
  const { REGION_SUFFIX = "", MISSING_IN_REGION = [] } = env as Partial<RegionOfShard>;
  const given: Record<string, unknown> = Object.fromEntries(Object.entries(env).filter(isSet));
  const result = schema.safeParse(given);
  if (result.success && MISSING_IN_REGION.length === 0) return result.data;
  const faults = MISSING_IN_REGION.map((name) => [name, "is not set, for the region of a database"]);
  if (faults.length === 0)
    for (const { code, path, message } of result.error?.issues ?? []) {
      const [name = "", ...rest] = path.map(String);
      const isMissing = code === "invalid_type" && given[name] === undefined;
      const fault = isMissing ? "is not set" : [...rest, message].join(" ");
      faults.push([isOfRegion(name) ? name + REGION_SUFFIX : name, fault]);
    }
  throw new SettingsError(
    [...new Set(faults.map(([name = ""]) => name))],
    `Invalid settings: ${faults.map((fault) => fault.join(" ")).join("; ")}. src/docs/settings.md lists all settings; \`npm run dev\` creates those for development.`,
  );
}

/** Secrets in .dev.vars.example, which everybody can read, begin with it. The signing key has it in its private part. */
const PUBLIC_PREFIX = "development-";

const secrets = lazily(() =>
  Object.keys(fields().shape).filter((name) => /_(TOKEN|SECRET)(_PREVIOUS)?$/.test(name)),
);

/**
 * Public secrets work only on localhost, where a developer's machine is reached and a deployed Worker never is.
 *
 * @throws SettingsError
 */
export function requireOwnSecrets(settings: Settings, url: string) {
  const found = secrets().filter((name) =>
    String(settings[name as keyof Settings]).startsWith(PUBLIC_PREFIX),
  );
  if (settings.AUDIT_SIGNING_KEY?.d.startsWith(PUBLIC_PREFIX)) found.push("AUDIT_SIGNING_KEY");
  if (found.length === 0 || isLoopback(new URL(url).hostname)) return;
  throw new SettingsError(
    found,
    `${found.join(" and ")} may begin with "${PUBLIC_PREFIX}" only on a developer's machine, reached as localhost. ` +
      "Set a secret of your own.",
  );
}
