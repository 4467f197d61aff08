import { describe, expect, it } from "vitest";
import { accessLogOf } from "../../src/client/access_log_source.ts";
import { all } from "../support/all.ts";

const NDJSON = { "Content-Type": "application/x-ndjson" };

/** The log of a service that answers as it likes, and what was asked of it. */
function aLog(answer: (url: URL) => Response, baseUrl = "https://visits.test") {
  const asked: { url: URL; headers: Record<string, string> }[] = [];
  const source = accessLogOf(
    {
      ...{ baseUrl, clientId: "id", clientSecret: "a-secret", maxRetries: 0 },
      fetch: async (url, init) => {
        asked.push({ url: new URL(String(url)), headers: init?.headers as Record<string, string> });
        return answer(new URL(String(url)));
      },
    },
    "auditor-1",
  );
  return { source, asked };
}

/** As much as anybody reads. */
function endless(chunk: string | Uint8Array) {
  const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
  return new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(bytes) });
}

const seal = (n: number) => ({ date: "2026-03-01", last_id: n });

describe("An access log over HTTP", () => {
  it("is read for a person, with the credentials, but the keys are not", async () => {
    const { source, asked } = aLog(({ pathname }) =>
      Response.json(pathname.endsWith("jwks.json") ? { keys: [] } : { access_log_seals: [], next_after: 0 }),
    );
    expect([await source.keys(), await source.seals()]).toEqual([[], []]);
    expect(asked.map(({ url }) => url.pathname)).toEqual([
      "/.well-known/jwks.json",
      "/api/external/access_log_seals",
    ]);
    expect(JSON.stringify(asked[0]?.headers)).not.toMatch(/id|secret/i);
    expect(asked[1]?.headers).toMatchObject({
      "X-Client-Secret": "a-secret",
      "X-Acting-User": "auditor-1",
      "X-Purpose-Of-Use": "HOPERAT",
    });
  });

  it("has its keys at the address of the service, also where that has a path", async () => {
    const { source, asked } = aLog(() => Response.json({ keys: [] }), "https://visits.test/p/");
    await source.keys();
    expect(asked.map(({ url }) => url.href)).toEqual(["https://visits.test/p/.well-known/jwks.json"]);
  });

  it("is read page after page", async () => {
    const { source, asked } = aLog(({ searchParams }) => {
      const after = Number(searchParams.get("after"));
      return new Response(`{"id":${after + 1}}\n`, {
        headers: { ...NDJSON, ...(after < 2 && { "X-Next-After": String(after + 1) }) },
      });
    });
    expect(await all(source.list(0))).toEqual(['{"id":1}', '{"id":2}', '{"id":3}']);
    expect(asked).toHaveLength(3);
  });
});

describe("A service that is hostile, or broken, does not keep the verifier for ever:", () => {
  it("pages that do not move on", async () => {
    const page = Array.from({ length: 100 }, (_, n) => seal(n + 1));
    for (const next_after of [0, -1, null, "x", 1e-9, 99, 101]) {
      const { source } = aLog(() => Response.json({ access_log_seals: page, next_after }));
      await expect(source.seals()).rejects.toThrow(
        /^The service wants the list read on after .*, and not after 0$/,
      );
    }
    const list = aLog(() => new Response('{"id":1}\n', { headers: { ...NDJSON, "X-Next-After": "7" } }));
    await expect(all(list.source.list(0))).rejects.toThrow(
      /The service wants the list read on after 7, and not after 7$/,
    );
  });

  it("a chain without end", async () => {
    const { source } = aLog(({ searchParams }) => {
      const after = Number(searchParams.get("after"));
      const page = Array.from({ length: 100 }, (_, n) => seal(after + n + 1));
      return Response.json({ access_log_seals: page, next_after: after + 100 });
    });
    await expect(source.seals()).rejects.toThrow("The service has more than 100000 seals");
  });

  it("a page, keys or a file without end", async () => {
    const chunk = " ".repeat(1024 * 1024);
    const json = aLog(
      () => new Response(endless(chunk), { headers: { "Content-Type": "application/json" } }),
    );
    const file = aLog(
      () => new Response(endless(chunk), { headers: { "Content-Type": "application/gzip" } }),
    );
    for (const [asked, MiB] of [
      [json.source.seals(), 1],
      [json.source.keys(), 1],
      [file.source.file("2026-03-01"), 64],
    ] as const)
      await expect(asked).rejects.toMatchObject({
        failed: "response",
        isTransient: false,
        cause: { message: `The response has more than ${MiB * 1024 * 1024} bytes` },
      });
  });

  it("a line without end, in the list", async () => {
    const { source } = aLog(() => new Response(endless("x".repeat(1000)), { headers: NDJSON }));
    await expect(all(source.list(0))).rejects.toMatchObject({
      failed: "response",
      cause: { message: "A line has more than 65536 characters" },
    });
  });
});
