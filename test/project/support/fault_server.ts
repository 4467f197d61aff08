import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const ROOM = { id: 7, name: "Cardiology", slug: "cardiology" };

interface Received {
  method: string | undefined;
  key: string | string[] | undefined;
  at: number;
}

/** Answers the client's nth request. */
type Answer = (response: ServerResponse, n: number) => void;

const refuse =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response, n) =>
    response
      .writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "request-1", ...headers })
      .end(JSON.stringify({ error: `Not now, said ${n} times` }));

const breakOff: Answer = (response) => response.destroy();

const cutOff: Answer = (response) => {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" });
  response.write('{"id": 7, "na', () => response.destroy());
};

/** Faults for the first request of a client. `isDone` says whether the server carries it out before it fails. */
export const FAULTS: Record<string, { answer: Answer; isDone?: true }> = {
  "broken before it is carried out": { answer: breakOff },
  "broken after it is carried out": { answer: breakOff, isDone: true },
  "cut off in the body": { answer: cutOff, isDone: true },
  "429 with Retry-After": { answer: refuse(429, { "Retry-After": "1" }) },
  "429 without Retry-After": { answer: refuse(429) },
  "503 with Retry-After": { answer: refuse(503, { "Retry-After": "1" }) },
  "503 without Retry-After": { answer: refuse(503) },
  "500": { answer: refuse(500), isDone: true },
};

/** Faults of every request, which are not tried with every operation. */
const ENDLESS: Record<string, Answer> = {
  "503 for ever": refuse(503, { "Retry-After": "0" }),
  "429 for an hour": refuse(429, { "Retry-After": "3600" }),
  "aborted while it waits for a response": () => {},
  "aborted between two attempts": refuse(503, { "Retry-After": "30" }),
};

/** A server that fails as the client id says: `<runtime> <operation>: <fault>`. */
export async function startFaultServer() {
  const received = new Map<string, Received[]>();
  const requestsOf = (id: string) => received.get(id) ?? [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(request, response));
  });

  function answer({ headers, url, method }: IncomingMessage, response: ServerResponse) {
    const id = String(headers["x-client-id"]);
    const requests = requestsOf(id);
    // The client may ask before it has sent anything else.
    if (url === "/seen") return response.end(String(requests.length));
    requests.push({ method, key: headers["idempotency-key"], at: Date.now() });
    received.set(id, requests);
    const name = id.slice(id.indexOf(": ") + 2);
    const isFirst = requests.length === 1;
    const fault = ENDLESS[name] ?? (isFirst && FAULTS[name]?.answer);
    if (fault) return fault(response, requests.length);
    if (method === "DELETE" && FAULTS[name]?.isDone) return refuse(404)(response, requests.length);
    if (method === "DELETE") return response.writeHead(204).end();
    const body = url?.endsWith("/token_exchange") ? { code: "code" } : ROOM;
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  }

  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestsOf,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
