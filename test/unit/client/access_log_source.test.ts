import { describe, expect, it } from "vitest";
import { accessLogOf } from "../../../src/client/access_log_source.ts";
import { all } from "../../support/all.ts";

const NDJSON = { "Content-Type": "application/x-ndjson" };

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

const endless = (chunk: string) =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode(chunk)),
  });

const seal = (n: number) => ({ date: "2026-03-01", last_id: n });

describe("accessLogOf", () => {
  it("sends the credentials and the acting user, except with the request for the keys", async () => {
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

  it("finds the keys when the service's address has a path", async () => {
    const { source, asked } = aLog(() => Response.json({ keys: [] }), "https://visits.test/p/");
    await source.keys();
    expect(asked.map(({ url }) => url.href)).toEqual(["https://visits.test/p/.well-known/jwks.json"]);
  });

  it("reads page after page", async () => {
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

describe("accessLogOf, with a hostile or broken service", () => {
  it("refuses pages that do not advance", async () => {
    const page = Array.from({ length: 100 }, (_, n) => seal(n + 1));
    for (const next_after of [0, -1, null, "x", 1e-9, 99, 101]) {
      const { source } = aLog(() => Response.json({ access_log_seals: page, next_after }));
      await expect(source.seals()).rejects.toThrow(
        /^The service continues the list after .*, which does not follow 0$/,
      );
    }
    const list = aLog(() => new Response('{"id":1}\n', { headers: { ...NDJSON, "X-Next-After": "7" } }));
    await expect(all(list.source.list(0))).rejects.toThrow(
      /The service continues the list after 7, which does not follow 7$/,
    );
  });

  it("refuses an endless chain of seals", async () => {
    const { source } = aLog(({ searchParams }) => {
      const after = Number(searchParams.get("after"));
      const page = Array.from({ length: 100 }, (_, n) => seal(after + n + 1));
      return Response.json({ access_log_seals: page, next_after: after + 100 });
    });
    await expect(source.seals()).rejects.toThrow("The service has more than 100000 seals");
  });

  it("refuses an endless page, list of keys or file", async () => {
    const endlessLog = (type: string) =>
      aLog(() => new Response(endless(" ".repeat(1024 * 1024)), { headers: { "Content-Type": type } }))
        .source;
    for (const [asked, MiB] of [
      [endlessLog("application/json").seals(), 1],
      [endlessLog("application/json").keys(), 1],
      [endlessLog("application/gzip").file("2026-03-01"), 128],
    ] as const)
      await expect(asked).rejects.toMatchObject({
        failed: "response",
        isTransient: false,
        cause: { message: `The response has more than ${MiB * 1024 * 1024} bytes` },
      });
  });

  it("refuses an endless line in the list", async () => {
    const { source } = aLog(() => new Response(endless("x".repeat(1000)), { headers: NDJSON }));
    await expect(all(source.list(0))).rejects.toMatchObject({
      failed: "response",
      cause: { message: "A line has more than 65536 characters" },
    });
  });
});
