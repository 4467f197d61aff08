import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../../../dist/client/external/index.js";

/*
 * The test vectors of Standard Webhooks' own libraries: a secret, a message and its signature.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/index.test.ts
 */
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const BODY = '{"test": 2432232314}';
const SIGNED_AT = 1_614_265_330;
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** The signature by the other secret. */
const OTHER = new Webhook(OTHER_SECRET).sign(ID, new Date(SIGNED_AT * 1000), BODY);

const SENT = { test: 2432232314 };

const HEADERS = { "webhook-id": ID, "webhook-timestamp": String(SIGNED_AT), "webhook-signature": SIGNATURE };

/** Verifies the test vector `after` seconds after it was signed. */
function verify(given: {
  secret?: string | string[];
  headers?: object;
  body?: string | Uint8Array;
  after?: number;
}) {
  vi.useFakeTimers({ now: (SIGNED_AT + (given.after ?? 0)) * 1000 });
  onTestFinished(() => void vi.useRealTimers());
  const headers = { ...HEADERS, ...given.headers } as Record<string, string>;
  const { secret } = { secret: SECRET, ...given };
  return verifyWebhook(secret, headers, given.body ?? BODY);
}

const refused = (given: Parameters<typeof verify>[0]) =>
  expect(verify(given)).rejects.toBeInstanceOf(WebhookVerificationError);

describe("verifyWebhook", () => {
  it("accepts Standard Webhooks' own test vector, also with a secret without its prefix", async () => {
    expect(new Webhook(SECRET).sign(ID, new Date(SIGNED_AT * 1000), BODY)).toBe(SIGNATURE);
    expect(await verify({})).toEqual(SENT);
    expect(await verify({ secret: SECRET.slice("whsec_".length) })).toEqual(SENT);
  });

  it("accepts bytes, and the headers of the Fetch API or of Node in any case", async () => {
    expect(await verify({ body: new TextEncoder().encode(BODY) })).toEqual(SENT);
    const capitals = Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), value]);
    for (const headers of [new Headers(HEADERS), Object.fromEntries(capitals)])
      expect(await verifyWebhook(SECRET, headers, BODY)).toEqual(SENT);
  });

  it("accepts either secret during a rotation, whichever side has both", async () => {
    expect(await verify({ secret: [OTHER_SECRET, SECRET] })).toEqual(SENT);
    for (const signature of [
      `${OTHER} ${SIGNATURE}`,
      `${SIGNATURE} ${OTHER}`,
      `v1a,Ceo5qE1/1mBrFKWaqVwmXgd4dUAYwOhH ${SIGNATURE}`,
    ])
      expect(await verify({ headers: { "webhook-signature": signature } })).toEqual(SENT);
  });

  it("refuses another secret", () => refused({ secret: OTHER_SECRET }));

  it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])("refuses a webhook without %s", (name) =>
    refused({ headers: { [name]: undefined } }),
  );

  it.each([-300, 300, 301, 1e6])("refuses a webhook signed %d seconds ago", (after) => refused({ after }));

  it.each([-299, 299])("accepts a webhook signed %d seconds ago", async (after) => {
    expect(await verify({ after })).toEqual(SENT);
  });

  it.each(["", "now", "NaN", "1614265330.5", "1e9", " 1614265330", `${SIGNED_AT + 1}`])(
    "refuses the timestamp %j",
    (timestamp) => refused({ headers: { "webhook-timestamp": timestamp } }),
  );

  it("refuses a webhook with any changed byte", async () => {
    const bytes = new TextEncoder().encode(BODY);
    for (const [n, byte] of bytes.entries()) await refused({ body: bytes.with(n, byte ^ 1) });
    await refused({ body: `${BODY}\n` });
    await refused({ headers: { "webhook-id": `${ID.slice(0, -1)}K` } });
  });

  it.each([
    "",
    "v1",
    "v1,",
    "v1,?",
    `v2,${SIGNATURE.slice(3)}`,
    `v1,${SIGNATURE.slice(3, -4)}`,
    `v1,A${SIGNATURE.slice(4)}`,
    SIGNATURE.slice(3),
  ])("refuses the signature %j", (signature) => refused({ headers: { "webhook-signature": signature } }));

  it.each([
    ["secret", ""],
    ["secret", "whsec_"],
    ["secret", "whsec_s3cr3t!"],
    ["secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-"],
    ["secret", undefined],
    ["secret[0]", ["", SECRET]],
    ["secret[1]", [SECRET, "s3cr3t!"]],
    ["secret[1]", [SECRET, undefined]],
  ])("throws a TypeError for an unusable %s before it reads the webhook (%j)", async (named, secret) => {
    for (const headers of [{}, { "webhook-signature": undefined }]) {
      const error = await verify({ secret: secret as string, headers }).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toBe(`${named}: must be the endpoint's secret, whsec_ and then base64`);
      expect(error.cause).toBeUndefined();
    }
  });

  it("throws a TypeError without a secret", () =>
    expect(verify({ secret: [] })).rejects.toThrow(new TypeError("verifyWebhook needs a secret")));

  it("accepts several signatures, in one header or in several", async () => {
    for (const signatures of [[OTHER, SIGNATURE], [`${OTHER} ${OTHER}`, SIGNATURE], [SIGNATURE]])
      expect(await verify({ headers: { "webhook-signature": signatures } })).toEqual(SENT);
    // The Fetch API and Node join repeated headers.
    const joined = new Headers({ ...HEADERS, "webhook-signature": OTHER });
    joined.append("webhook-signature", SIGNATURE);
    expect(await verifyWebhook(SECRET, joined, BODY)).toEqual(SENT);
    await refused({ headers: { "webhook-signature": [OTHER, OTHER] } });
    await refused({ headers: { "webhook-signature": [] } });
    await refused({ headers: { "webhook-id": [ID, ID] } });
  });
});
