import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../../dist/client/external/index.js";

/*
 * The vectors of the tests of Standard Webhooks' own libraries: their secret, message and signature.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/index.test.ts
 */
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const BODY = '{"test": 2432232314}';
const SIGNED_AT = 1_614_265_330;
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const HEADERS = { "webhook-id": ID, "webhook-timestamp": String(SIGNED_AT), "webhook-signature": SIGNATURE };

/** Verifies the vector so many seconds after it was signed. */
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

describe("A webhook", () => {
  it("that is signed as Standard Webhooks' own vector is believed", async () => {
    expect(new Webhook(SECRET).sign(ID, new Date(SIGNED_AT * 1000), BODY)).toBe(SIGNATURE);
    expect(await verify({})).toEqual({ test: 2432232314 });
  });

  it("is believed with a secret that has no prefix", async () => {
    expect(await verify({ secret: SECRET.slice("whsec_".length) })).toEqual({ test: 2432232314 });
  });

  it("is believed as bytes, and with the headers of the Fetch API or of Node in any case", async () => {
    expect(await verify({ body: new TextEncoder().encode(BODY) })).toEqual({ test: 2432232314 });
    vi.useFakeTimers({ now: SIGNED_AT * 1000 });
    const capitals = Object.fromEntries(
      Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await verifyWebhook(SECRET, new Headers(HEADERS), BODY)).toEqual({ test: 2432232314 });
    expect(await verifyWebhook(SECRET, capitals, BODY)).toEqual({ test: 2432232314 });
  });

  it("is believed while secrets are rotated, whichever side has both", async () => {
    const both = new Webhook(OTHER_SECRET).sign(ID, new Date(SIGNED_AT * 1000), BODY);
    expect(await verify({ secret: [OTHER_SECRET, SECRET] })).toEqual({ test: 2432232314 });
    for (const signature of [
      `${both} ${SIGNATURE}`,
      `${SIGNATURE} ${both}`,
      `v1a,Ceo5qE1/1mBrFKWaqVwmXgd4dUAYwOhH ${SIGNATURE}`,
    ])
      expect(await verify({ headers: { "webhook-signature": signature } })).toEqual({ test: 2432232314 });
  });

  it("of another secret is refused", () => refused({ secret: OTHER_SECRET }));

  it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])("without %s is refused", (name) =>
    refused({ headers: { [name]: undefined } }),
  );

  it.each([-300, 300, 301, 1e6])("that was signed %d seconds ago is refused", (after) => refused({ after }));

  it.each([-299, 299])("that was signed %d seconds ago is believed", async (after) => {
    expect(await verify({ after })).toEqual({ test: 2432232314 });
  });

  it.each(["", "now", "NaN", "1614265330.5", "1e9", " 1614265330", `${SIGNED_AT + 1}`])(
    "with the timestamp %j is refused",
    (timestamp) => refused({ headers: { "webhook-timestamp": timestamp } }),
  );

  it("of which any byte was changed is refused", async () => {
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
  ])("with the signature %j is refused", (signature) =>
    refused({ headers: { "webhook-signature": signature } }),
  );

  it.each([
    ["secret", ""],
    ["secret", "whsec_"],
    ["secret", "whsec_s3cr3t!"],
    ["secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-"],
    ["secret", undefined],
    ["secret[0]", ["", SECRET]],
    ["secret[1]", [SECRET, "s3cr3t!"]],
    ["secret[1]", [SECRET, undefined]],
  ])("is not even looked at with an unusable %s (%j)", async (named, secret) => {
    const given = { secret: secret as string, headers: { "webhook-signature": undefined } };
    for (const each of [{ secret: secret as string }, given]) {
      const error = await verify(each).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toBe(`${named}: must be the endpoint's secret, whsec_ and then base64`);
      expect(error.cause).toBeUndefined();
    }
  });

  it("is not even looked at without a secret", () =>
    expect(verify({ secret: [] })).rejects.toThrow(new TypeError("verifyWebhook needs a secret")));

  it("is believed with several signatures, in one header or in many", async () => {
    const other = new Webhook(OTHER_SECRET).sign(ID, new Date(SIGNED_AT * 1000), BODY);
    for (const signatures of [
      [other, SIGNATURE],
      [SIGNATURE, other],
      [`${other} ${other}`, SIGNATURE],
      [SIGNATURE],
    ])
      expect(await verify({ headers: { "webhook-signature": signatures } })).toEqual({ test: 2432232314 });
    // As the Fetch API and Node join them.
    const joined = new Headers(HEADERS);
    joined.set("webhook-signature", other);
    joined.append("webhook-signature", SIGNATURE);
    expect(await verifyWebhook(SECRET, joined, BODY)).toEqual({ test: 2432232314 });
    await refused({ headers: { "webhook-signature": [other, other] } });
    await refused({ headers: { "webhook-signature": [] } });
    await refused({ headers: { "webhook-id": [ID, ID] } });
  });
});
