import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULTS, startFaultServer } from "./support/fault_server.ts";
import { type Outcomes, RUNTIMES } from "./support/runtimes.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

function signedWebhook() {
  const body = '{"type": "ping", "id": 1}';
  const at = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign("evt_1", at, body),
  };
  return { secret: SECRET, headers, body };
}

let server: Awaited<ReturnType<typeof startFaultServer>>;

beforeAll(async () => {
  server = await startFaultServer();
});

afterAll(() => server.stop());

describe.each(Object.entries(RUNTIMES))("The client package in %s", (runtime, run) => {
  let outcomes: Outcomes;
  const requestsOf = (name: string) => server.requestsOf(`${runtime} ${name}`);
  const methodsOf = (name: string) => requestsOf(name).map(({ method }) => method);

  beforeAll(async () => {
    const faults = [...Object.keys(FAULTS), "503 for ever", "429 for an hour"];
    outcomes = await run({ baseUrl: server.baseUrl, runtime, faults, webhook: signedWebhook() });
  });

  it.each(Object.keys(FAULTS))(
    "tries again if the first attempt is %s, but no POST without a key",
    (fault) => {
      const room = { value: { slug: "cardiology" } };
      // The first attempt to delete may have deleted it already.
      for (const [operation, methods, outcome] of [
        ["get", ["GET", "GET"], room],
        ["put", ["PUT", "PUT"], room],
        ["delete", ["DELETE", "DELETE"], { value: null }],
        ["create", ["POST", "POST"], room],
        ["exchange", ["POST"], { error: "VideoVisitError" }],
      ] as const) {
        expect(outcomes[`${operation}: ${fault}`], operation).toMatchObject(outcome);
        expect(methodsOf(`${operation}: ${fault}`)).toEqual(methods);
      }
      const [first, second] = requestsOf(`create: ${fault}`);
      expect(first?.key).toMatch(/^[\w-]{36}$/);
      expect(second?.key).toBe(first?.key);
    },
  );

  it("waits as long as Retry-After says", () => {
    for (const fault of ["429 with Retry-After", "503 with Retry-After"]) {
      const [first, second] = requestsOf(`get: ${fault}`);
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    }
  });

  it("gives up after several 503 responses, with the last error", () => {
    expect(methodsOf("get: 503 for ever")).toHaveLength(3);
    expect(outcomes["get: 503 for ever"]).toEqual({
      error: "VideoVisitError",
      status: 503,
      text: "Not now, said 3 times",
      requestId: "request-1",
    });
  });

  it("does not wait if Retry-After is an hour", () => {
    expect(methodsOf("get: 429 for an hour")).toHaveLength(1);
    expect(outcomes["get: 429 for an hour"]).toMatchObject({ status: 429 });
  });

  it("aborts a request at once when its signal aborts", () => {
    for (const name of ["get: aborted while it waits for a response", "get: aborted between two attempts"]) {
      expect(outcomes[name]).toMatchObject({
        error: "VideoVisitError",
        text: "The signal ended the request",
      });
      expect(methodsOf(name)).toHaveLength(1);
    }
  });

  it("accepts only webhooks that the service has signed", () => {
    expect(outcomes.webhook).toBe("ping");
    expect(outcomes.changedWebhook).toBe("WebhookVerificationError");
  });
});
