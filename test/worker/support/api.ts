import { exports } from "cloudflare:workers";
import { expectAsDocumented } from "./contract.ts";

/** A response with its parsed body. An empty body is null. WebVTT, NDJSON and the content of a gzipped file are text. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body
  body: any;
}

/** Sends a request to the Worker. Other fetchers count or change requests on their way. */
export type Fetcher = (request: Request) => Promise<Response>;

export const theWorker: Fetcher = (request) => exports.default.fetch(request);

const [, high, low] = crypto.randomUUID().split("-");

/** Each test file has its own network: files share a Worker, which counts the failed credentials of each address. */
const ADDRESS = `2001:db8:${high}:${low}::1`;

/**
 * A client for one of the service's APIs.
 *
 * @param under the prefix of all paths
 */
export function api(base: string, credentials: Record<string, string>, fetcher = theWorker, under = "") {
  async function send(method: string, rest: string, body?: unknown, headers: Record<string, string> = {}) {
    const path = under + rest;
    const bytes = body === undefined ? undefined : bytesOf(body);
    const response = await fetcher(
      new Request(`https://service.test${base}${path}`, {
        method,
        headers: {
          "CF-Connecting-IP": ADDRESS,
          ...credentials,
          ...(bytes && { "Content-Type": "application/json", "Content-Length": String(bytes.length) }),
          ...headers,
        },
        body: bytes,
      }),
    );
    const type = response.headers.get("Content-Type") ?? "";
    const text = type === "application/gzip" ? await unpacked(response) : await response.text();
    const isText = /^(text\/vtt|application\/x-ndjson|application\/gzip)/.test(type);
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      body: isText ? text : text === "" ? null : JSON.parse(text),
    };
    expectAsDocumented(base, method, path, answer);
    return answer;
  }
  return {
    send,
    get: (path: string) => send("GET", path),
    post: (path: string, body: unknown) => send("POST", path, body),
    put: (path: string, body: unknown) => send("PUT", path, body),
    delete: (path: string) => send("DELETE", path),
    through: (other: Fetcher) => api(base, credentials, other, under),
    under: (beginning: string) => api(base, credentials, fetcher, beginning),
  };
}

function bytesOf(body: unknown) {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return new Uint8Array(new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)));
}

const unpacked = ({ body }: Response) =>
  new Response(body?.pipeThrough(new DecompressionStream("gzip"))).text();

export type Api = ReturnType<typeof api>;

export const PLATFORM_TOKEN = "test-platform-token-of-32-characters";

export const platform = api("/api/platform", { Authorization: `Bearer ${PLATFORM_TOKEN}` });
