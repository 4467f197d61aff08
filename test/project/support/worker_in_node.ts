/**
 * The parts of a Worker's environment that Node lacks. The clock stands still, so that a looked-up client stays fresh,
 * and so that two handlers write exactly the same at the same time.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { SECOND } from "../../../src/units.ts";

export type Handler = (request: Request, env: Env, context: ExecutionContext) => Response | Promise<Response>;

export const ORIGIN = "https://service.test";

export const PLATFORM_TOKEN = "local-platform-token-of-32-characters";

export const LIVEKIT_KEY = "local-livekit-key";
export const LIVEKIT_SECRET = "local-livekit-secret-of-32-characters";

const SETTINGS = {
  PUBLIC_URL: "",
  CONTACT: "",
  CLIENT_LIMIT_PER_MINUTE: "1200",
  ORGANIZATION_LIMIT_PER_MINUTE: "6000",
  BULK_INVITE_LIMIT_PER_MINUTE: "10",
  REDELIVERY_LIMIT_PER_MINUTE: "10",
  ACCESS_LOG_LIMIT_PER_MINUTE: "30",
  FAILURE_LIMIT_PER_MINUTE: "60",
  PLATFORM_API_TOKEN: PLATFORM_TOKEN,
  PLATFORM_REPORTS_TOKEN: "",
  PLATFORM_WEB_APP_TOKEN: "",
  AUDIT_SIGNING_KEY:
    '{"kty":"OKP","crv":"Ed25519","x":"EByB_L4sbShRySVhBDgzlWqUptvWgQnc_jOMPjqTSLs","d":"test-audit-key-of-43-characters-AAAAAAAAAAA"}',
  APP_URL: "http://localhost:3000",
  DIGEST_SECRET: "local-digest-secret-of-32-characters",
  INVITE_TOKEN_SECRET: "local-invite-secret-of-32-characters",
  MAIL_FROM: "",
  LIVEKIT_API_KEY: LIVEKIT_KEY,
  LIVEKIT_API_SECRET: LIVEKIT_SECRET,
  RECORDINGS_S3_ENDPOINT: "/cdn-cgi/local/r2/s3",
  RECORDINGS_S3_ACCESS_KEY_ID: "local-access-key",
  RECORDINGS_S3_SECRET_ACCESS_KEY: "local-secret-key",
};

/** Mail is off, because MAIL_FROM is not set. */
const noMail = {} as SendEmail;

const noLimit: RateLimit = { limit: async () => ({ success: true }) };

/** Accepts messages, and delivers none. */
const idleQueue = { send: async () => {}, sendBatch: async () => {} } as unknown as Env["BULK_INVITES"];

/** An empty bucket, from which any file can be deleted. */
const emptyBucket = { delete: async () => {}, get: async () => null } as unknown as R2Bucket;

/** The Worker's bindings, with this database. */
export const bindings = (DB: D1Database): Env => ({
  ...SETTINGS,
  DB,
  BULK_INVITES: idleQueue,
  CHORES: idleQueue,
  WEBHOOKS: idleQueue,
  INVITE_MAILS: idleQueue,
  EMAIL: noMail,
  RECORDINGS: emptyBucket,
  AUDIT_LOGS: emptyBucket,
  CLIENT_LIMIT: noLimit,
  ORGANIZATION_LIMIT: noLimit,
  BULK_INVITE_LIMIT: noLimit,
  REDELIVERY_LIMIT: noLimit,
  ACCESS_LOG_LIMIT: noLimit,
  FAILURE_LIMIT: noLimit,
});

/** Adds what Workers have and Node lacks, stops the clock, and discards the log. */
export function likeWorkers() {
  Object.assign(crypto, { DigestStream });
  Object.assign(crypto.subtle, { timingSafeEqual: (a: Uint8Array, b: Uint8Array) => timingSafeEqual(a, b) });
  const started = Date.now();
  Date.now = () => started;
  Object.assign(console, { log: () => {} });
}

/** Lets the clock run again, so that what is reported a millisecond later is newer. */
export function letTimePass() {
  Date.now = () => Math.floor(performance.timeOrigin + performance.now());
}

/** The stream of Workers that digests what is written to it. */
export class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>;

  constructor(algorithm: string) {
    const hash = createHash(algorithm.replace("-", ""));
    const { promise, resolve, reject } = Promise.withResolvers<ArrayBuffer>();
    super({
      write: (chunk) => void hash.update(chunk),
      close: () => resolve(new Uint8Array(hash.digest()).buffer),
      abort: reject,
    });
    promise.catch(() => {});
    this.digest = promise;
  }
}

/** A request as it arrives over HTTP, with a Content-Length, which Node does not set. A string is sent unchanged. */
export function makeRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object | string,
): Request {
  if (body === undefined) return new Request(ORIGIN + path, { method, headers });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const described = { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) };
  return new Request(ORIGIN + path, { method, headers: { ...described, ...headers }, body: text });
}

/** Answers a request, and waits for the work that the handler left for later. */
export async function answer(handler: Handler, request: Request, env: Env): Promise<Response> {
  const later: Promise<unknown>[] = [];
  const context = { waitUntil: (work: Promise<unknown>) => later.push(work), passThroughOnException() {} };
  const response = await handler(request, env, context as unknown as ExecutionContext);
  if (later.length > 0) await Promise.all(later);
  return response;
}

export const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The `Authorization` header of LiveKit's server, by the clock of the service. */
export function signatureOfLiveKit(body: string, now: number): string {
  const sha256 = createHash("sha256").update(body).digest("base64");
  const claims = { iss: LIVEKIT_KEY, exp: Math.floor(now / SECOND) + 300, sha256 };
  const signed = `${base64url({ alg: "HS256" })}.${base64url(claims)}`;
  return `${signed}.${createHmac("sha256", LIVEKIT_SECRET).update(signed).digest("base64url")}`;
}
