import { createHash } from "node:crypto";
import type { CloudflareRequest } from "./cloudflare_api.ts";

export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Script {
  secrets: Map<string, string>;
  /** The metadata of the last upload. Undefined for a draft that only holds secrets. */
  uploaded?: Record<string, unknown> & { bindings?: { name: string; text?: string }[] };
}

type Handler = (request: CloudflareRequest, ...names: string[]) => unknown;

export function cloudflareResources() {
  /** The lock rules of each bucket, by jurisdiction and name, such as `default/recordings`. */
  const buckets = new Map<string, object[]>();
  /** The files of all buckets, by jurisdiction, bucket and key. */
  const objects = new Map<string, Buffer>();
  /** The jurisdiction and the consuming Worker of each queue, by name. */
  const queues = new Map<string, { jurisdiction?: string; consumer?: string }>();
  const scripts = new Map<string, Script>();

  /** The answers that `wrangler deploy` needs. Nothing else depends on them. */
  const deploying: Record<string, Handler> = {
    "/workers/services/([^/]+)$": (_, name = "") => ({
      default_environment: {
        environment: "production",
        script: { ...script(name), last_deployed_from: "wrangler" },
      },
    }),
    "/scripts/[^/]+/deployments$": () => ({ deployments: [] }),
    "/scripts/[^/]+/assets-upload-session$": () => ({ jwt: "uploaded", buckets: [] }),
    "/scripts/[^/]+/(?:subdomain|schedules|settings|script-settings)$": () => ({
      enabled: true,
      previews_enabled: true,
      bindings: [],
    }),
    "/workers/subdomain$": () => ({ subdomain: "clinic" }),
    "/workers/workers/([^/]+)$": (_, name = "") => ({
      id: name,
      name,
      subdomain: { enabled: true, previews_enabled: true },
    }),
  };

  const handlers: Record<string, Handler> = {
    ...deploying,
    "/r2/buckets$": ({ body, headers }) => {
      const key = bucketKey(headers, String(body.name));
      if (buckets.has(key)) throw new Refusal(409, 10004, "The bucket you tried to create already exists.");
      buckets.set(key, []);
      return {};
    },
    "/r2/buckets/([^/]+)/objects$": ({ headers, query }, name = "") => {
      const bucket = `${bucketKey(headers, name)}/`;
      const [prefix, after] = ["prefix", "start_after"].map((each) => query.get(each) ?? "");
      return [...objects]
        .filter(([path]) => path.startsWith(`${bucket}${prefix}`) && path > bucket + after)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, 1)
        .map(([path, bytes]) => ({
          ...{ key: path.slice(bucket.length), size: bytes.length, last_modified: "2026-01-31T09:30:00Z" },
          etag: createHash("md5").update(bytes).digest("hex"),
        }));
    },
    "/r2/buckets/([^/]+)/objects/(.+)$": ({ method, headers, bytes }, name = "", key = "") => {
      const path = `${bucketKey(headers, name)}/${decodeURIComponent(key)}`;
      if (method === "PUT") objects.set(path, bytes);
      if (method === "DELETE") objects.delete(path);
      if (method !== "GET") return {};
      const found = objects.get(path);
      if (!found) throw new Refusal(404, 10007, "The specified key does not exist.");
      return found;
    },
    "/r2/buckets/([^/]+)(/lock)?$": ({ method, body, headers }, name = "", lock) => {
      const key = bucketKey(headers, name);
      const rules = buckets.get(key);
      if (!rules) throw new Refusal(404, 10006, "The specified bucket does not exist.");
      if (lock && method === "PUT") buckets.set(key, body.rules as object[]);
      return lock ? { rules: buckets.get(key) } : { name };
    },
    "/queues$": ({ method, body, query }) => {
      const name = String(body.queue_name);
      if (method === "POST" && queues.has(name)) throw new Refusal(409, 11009, "Queue name is taken");
      if (method === "POST") queues.set(name, { jurisdiction: body.jurisdiction as string | undefined });
      const all = [...queues].map(([queue_name, { consumer }]) => ({
        queue_id: `queue-${queue_name}`,
        queue_name,
        producers: [],
        producers_total_count: 0,
        consumers_total_count: consumer ? 1 : 0,
        consumers: consumer ? [{ script: consumer, type: "worker", consumer_id: queue_name }] : [],
      }));
      if (method === "POST") return all.find(({ queue_name }) => queue_name === name);
      const asked = query.get("name");
      return all.filter(({ queue_name }) => asked === null || queue_name === asked);
    },
    "/queues/queue-([^/]+)/consumers(?:/[^/]+)?$": ({ body, method }, name = "") => {
      const queue = queues.get(name);
      if (!queue) throw new Refusal(404, 11000, "Queue not found");
      if (method === "GET") return queue.consumer ? [{ script: queue.consumer, type: "worker" }] : [];
      queue.consumer = String(body.script_name);
      return {};
    },
    "/workers/scripts/([^/]+)/secrets$": (_, name = "") =>
      [...script(name).secrets.keys()].map((each) => ({ name: each, type: "secret_text" })),
    "/workers/scripts/([^/]+)/secrets-bulk$": ({ body }, name = "") => {
      const { secrets } = script(name);
      const given = body.secrets as Record<string, { name: string; text: string } | null>;
      for (const each of Object.values(given)) if (each) secrets.set(each.name, each.text);
      return [];
    },
    "/workers/scripts/([^/]+)$": ({ method }, name = "") => {
      if (method === "GET") return script(name);
      scripts.set(name, { secrets: new Map() });
      return { id: name };
    },
    "/workers/scripts/([^/]+)/versions$": ({ text }, name = "") => {
      script(name).uploaded = JSON.parse(/name="metadata"[^{]*(\{.*\})/.exec(text)?.[1] ?? "{}");
      const resources = { script: { etag: "etag" }, bindings: [], script_runtime: {} };
      return { id: "version", startup_time_ms: 1, metadata: {}, resources };
    },
  };

  function script(name: string): Script {
    const found = scripts.get(name);
    if (!found) throw new Refusal(404, 10007, "This Worker does not exist on your account.");
    return found;
  }

  return {
    state: { buckets, objects, queues, scripts },
    resultOf(request: CloudflareRequest): unknown {
      for (const [pattern, handle] of Object.entries(handlers)) {
        const [found, ...names] = new RegExp(pattern).exec(request.path) ?? [];
        if (found) return handle(request, ...names);
      }
      throw new Refusal(404, 7003, `Could not route to ${request.method} ${request.path}`);
    },
  };
}

const bucketKey = (headers: CloudflareRequest["headers"], name: string) =>
  `${headers["cf-r2-jurisdiction"] ?? "default"}/${name}`;
