import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { unstable_splitSqlQuery } from "wrangler";
import { bindingOf } from "./d1_binding.ts";
import { executeOn } from "./service_in_memory.ts";

/** As much of Cloudflare's REST API as wrangler's commands on remote databases use. */
export async function startCloudflare() {
  const databases = new Map<string, DatabaseSync>();
  /** Of whoever asks. */
  const accounts = [{ id: "somebody-elses", name: "Other" }];
  /** So many of the next requests are refused, as if the login had expired. */
  const expired = { requests: 0 };
  const requests: { method: string; path: string; body: Record<string, unknown> }[] = [];
  const add = (name: string, database = new DatabaseSync(":memory:")) => {
    databases.set(name, database);
    return database;
  };
  const listed = (name: string) => ({ uuid: `id-of-${name}`, name });

  /** What the API returns as `result`, or undefined for what it does not know. */
  function resultOf(method: string, path: string, body: Record<string, unknown>): unknown {
    if (path === "/user") return { email: "operator@example.com" };
    if (path === "/accounts") return accounts;
    if (path === "/memberships") return accounts.map((account) => ({ account }));
    const [, name, verb] = /\/d1\/database(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
    if (name === undefined && method === "POST") add(String(body.name));
    if (name === undefined)
      return method === "POST" ? listed(String(body.name)) : [...databases.keys()].map(listed);
    const known = name.replace(/^id-of-/, "");
    const database = databases.get(known);
    if (!database) return undefined;
    if (verb !== "query") return listed(known);
    const batch = body.batch ?? unstable_splitSqlQuery(String(body.sql)).map((sql) => ({ sql }));
    return query(database, batch as { sql: string }[]);
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const [path = ""] = (request.url ?? "").split("?");
    const entry = { method: request.method ?? "", path, body: text ? JSON.parse(text) : {} };
    requests.push(entry);
    const isExpired = expired.requests-- > 0;
    let message = "not found";
    let result: unknown;
    try {
      if (isExpired) throw new Error("Authentication error");
      result = await resultOf(entry.method, path, entry.body);
    } catch (error) {
      message = `${(error as Error).message}: SQLITE_ERROR`;
    }
    const success = result !== undefined;
    response
      .writeHead(success ? 200 : isExpired ? 401 : 400, { "Content-Type": "application/json" })
      .end(
        JSON.stringify({ success, errors: success ? [] : [{ code: 7500, message }], messages: [], result }),
      );
  });
  // Its process is busy with other things for seconds: a connection must not be closed meanwhile.
  server.keepAliveTimeout = 120_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    add,
    accounts,
    databases,
    expired,
    requests,
    /** For wrangler. */
    environment: { CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}`, CLOUDFLARE_API_TOKEN: "token" },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The statements of a request are one transaction. */
async function query(database: DatabaseSync, batch: { sql: string; params?: unknown[] }[]) {
  const DB = bindingOf(executeOn(database));
  const results = await DB.batch(batch.map(({ sql, params = [] }) => DB.prepare(sql).bind(...params)));
  const meta = { duration: 1, size_after: 4096, rows_read: 1, rows_written: 1 };
  return results.map((each) => ({ ...each, meta }));
}
