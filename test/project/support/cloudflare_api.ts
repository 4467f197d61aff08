import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { unstable_splitSqlQuery } from "wrangler";
import { cloudflareResources, Refusal } from "./cloudflare_resources.ts";
import { bindingOf } from "./d1_binding.ts";
import { executeOn } from "./service_in_memory.ts";

export interface CloudflareRequest {
  method: string;
  path: string;
  body: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  /** The body as it was sent. The body of an upload is a form. */
  text: string;
  bytes: Buffer;
}

interface DatabaseSettings {
  read_replication: { mode: string };
  jurisdiction?: string;
  primary_location_hint?: string;
}

/** The part of Cloudflare's REST API that the commands use, including the wrangler commands that they start. */
export async function startCloudflare() {
  const databases = new Map<string, DatabaseSync>();
  const settings = new Map<string, DatabaseSettings>();
  const resources = cloudflareResources();
  const accounts = [{ id: "somebody-elses", name: "Other" }];
  /** The number of requests to refuse from now on, as if the login had expired. */
  const expired = { requests: 0 };
  const requests: CloudflareRequest[] = [];
  /** `before` runs before a request is carried out, and may throw a Refusal. */
  const hooks: {
    before?: (request: CloudflareRequest) => void;
    /** The answer of the deployed Worker at `/health`, which this server also serves. */
    health?: () => { status: number; body: object };
  } = {};
  const add = (
    name: string,
    database = new DatabaseSync(":memory:"),
    own: Partial<DatabaseSettings> = {},
  ) => {
    databases.set(name, database);
    settings.set(name, { read_replication: { mode: "disabled" }, ...own });
    return database;
  };
  const listed = (name: string) => ({ uuid: `id-of-${name}`, name });
  const detailed = (name: string) => ({ ...listed(name), ...settings.get(name) });

  function databaseResult({ method, path, body }: CloudflareRequest): unknown {
    const [, name, verb] = /\/d1\/database(?:\/([^/]+))?(?:\/(.+))?$/.exec(path) ?? [];
    if (name === undefined && method === "GET") return [...databases.keys()].map(listed);
    if (name === undefined) {
      const { name: made, jurisdiction, primary_location_hint } = body as Record<string, string>;
      add(String(made), undefined, { jurisdiction, primary_location_hint });
      return listed(String(made));
    }
    const known = name.replace(/^id-of-/, "");
    const database = databases.get(known);
    if (!database) throw new Refusal(404, 7404, `The database ${known} could not be found`);
    if (verb === "time_travel/bookmark") return { bookmark: `bookmark-of-${known}` };
    if (method === "PUT") settings.set(known, { ...settings.get(known), ...body } as DatabaseSettings);
    if (verb !== "query") return detailed(known);
    const batch = body.batch ?? unstable_splitSqlQuery(String(body.sql)).map((sql) => ({ sql }));
    return query(database, batch as { sql: string }[]);
  }

  function resultOf(request: CloudflareRequest): unknown {
    const { path } = request;
    if (path === "/user") return { email: "operator@example.com" };
    if (path === "/user/tokens/verify") return { id: "token-id", status: "active" };
    if (path === "/accounts") return accounts;
    if (path === "/memberships") return accounts.map((account) => ({ account }));
    if (path.includes("/d1/database")) return databaseResult(request);
    return resources.resultOf(request);
  }

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString();
    const { method = "", headers } = incoming;
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? "", "http://localhost");
    const request = {
      method,
      path,
      body: text.startsWith("{") ? JSON.parse(text) : {},
      headers,
      query,
      text,
      bytes,
    };
    requests.push(request);
    const answer = (status: number, rest: object) =>
      response
        .writeHead(status, { "Content-Type": "application/json" })
        .end(JSON.stringify({ messages: [], ...rest }));
    if (path === "/health") {
      const { status, body } = hooks.health?.() ?? { status: 404, body: {} };
      return response.writeHead(status).end(JSON.stringify(body));
    }
    try {
      if (expired.requests-- > 0) throw new Refusal(401, 10000, "Authentication error");
      hooks.before?.(request);
      const result = await resultOf(request);
      if (Buffer.isBuffer(result)) return response.writeHead(200).end(result);
      answer(200, { success: true, errors: [], result });
    } catch (error) {
      const { status, code, message } =
        error instanceof Refusal
          ? error
          : { status: 400, code: 7500, message: `${(error as Error).message}: SQLITE_ERROR` };
      answer(status, { success: false, errors: [{ code, message }], result: null });
    }
  });
  // This process can be busy for seconds, and a connection must stay open meanwhile.
  server.keepAliveTimeout = 120_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    ...resources.state,
    add,
    accounts,
    databases,
    settings,
    expired,
    hooks,
    requests,
    environment: { CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}`, CLOUDFLARE_API_TOKEN: "token" },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Runs the statements of a request in one transaction. */
async function query(database: DatabaseSync, batch: { sql: string; params?: unknown[] }[]) {
  const DB = bindingOf(executeOn(database));
  const results = await DB.batch(batch.map(({ sql, params = [] }) => DB.prepare(sql).bind(...params)));
  const meta = { duration: 1, size_after: 4096, rows_read: 1, rows_written: 1 };
  return results.map((each) => ({ ...each, meta }));
}
