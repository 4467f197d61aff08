import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const ROOM = { id: 7, name: "Cardiology", slug: "cardiology" };

export interface Log {
  requests: { method: string; key: string | undefined; at: number }[];
  /** How often the operation was carried out. Replays do not count. */
  done: number;
  /** The idempotency keys of the requests. */
  known: Set<string>;
}

type Answer = (response: ServerResponse) => void;

const refuse =
  (status: number, headers: Record<string, string> = {}, error = "Not now"): Answer =>
  (response) =>
    response
      .writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "request-1", ...headers })
      .end(JSON.stringify({ error }));

const breakOff: Answer = (response) => response.destroy();

const cutOff: Answer = (response) => {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" });
  response.write('{"id": 7, "na', () => response.destroy());
};

const hang: Answer = () => {};

interface Fault {
  answer: Answer;
  /** Whether the server carries out the request before it fails. */
  isDone?: true;
  /** Whether requests after the first fail too. */
  isEndless?: true;
}

/** Faults for the first request of a client. */
export const FAULTS: Record<string, Fault> = {
  "broken before it is carried out": { answer: breakOff },
  "broken after it is carried out": { answer: breakOff, isDone: true },
  "cut off in the body": { answer: cutOff, isDone: true },
  "429 with Retry-After": { answer: refuse(429, { "Retry-After": "1" }) },
  "429 without Retry-After": { answer: refuse(429) },
  "503 with Retry-After": { answer: refuse(503, { "Retry-After": "1" }) },
  "503 without Retry-After": { answer: refuse(503) },
  "500": { answer: refuse(500), isDone: true },
};

/** Faults that are not tried with every operation. */
const OTHER_FAULTS: Record<string, Fault> = {
  "503 for ever": { answer: refuse(503, { "Retry-After": "0" }), isEndless: true },
  "429 for an hour": { answer: refuse(429, { "Retry-After": "3600" }), isEndless: true },
  "aborted while it waits for a response": { answer: hang, isEndless: true },
  "aborted between two attempts": { answer: refuse(503, { "Retry-After": "30" }), isEndless: true },
};

/** A server that fails as the client id says: `<runtime> <operation>: <fault>`. */
export async function startFaultServer() {
  const logs = new Map<string, Log>();
  const logOf = (id: string): Log => logs.get(id) ?? { requests: [], done: 0, known: new Set() };
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(request, response));
  });

  function answer(request: IncomingMessage, response: ServerResponse) {
    const id = String(request.headers["x-client-id"]);
    const log = logOf(id);
    // The client may ask before it has sent anything else.
    if (request.url === "/seen") return response.end(String(log.requests.length));
    logs.set(id, log);
    const key = request.headers["idempotency-key"] as string | undefined;
    log.requests.push({ method: request.method ?? "", key, at: Date.now() });
    const name = id.slice(id.indexOf(": ") + 2);
    const fault = FAULTS[name] ?? OTHER_FAULTS[name];
    const isFaulty = fault && (log.requests.length === 1 || fault.isEndless);
    if (isFaulty && !fault.isDone) {
      if (name === "503 for ever")
        return refuse(503, { "Retry-After": "0" }, `Not now, said ${log.requests.length} times`)(response);
      return fault.answer(response);
    }
    const wasGone = request.method === "DELETE" && log.done > 0;
    if (!(key && log.known.has(key))) log.done++;
    if (key) log.known.add(key);
    if (isFaulty) return fault.answer(response);
    if (wasGone) return refuse(404, {}, "Waiting room not found")(response);
    if (request.method === "DELETE") return response.writeHead(204).end();
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(JSON.stringify(request.url?.endsWith("/token_exchange") ? { code: "code" } : ROOM));
  }

  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    logOf,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
