import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request as send } from "node:http";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { documentOf } from "../../project/support/documents.ts";

const PRISM = resolve("node_modules/@stoplight/prism-cli/dist/index.js");

const APIS = ["external", "platform"];

/** What Prism says of a request and its response. */
interface Violation {
  location: string[];
  message: string;
}

/**
 * A way to a server on which Stoplight Prism stands: it compares every request and every response with the documents.
 *
 * @param folder for the documents, as Prism is to read them
 */
export async function startPrism(server: string, folder: string) {
  const found: string[] = [];
  let compared = 0;
  let refused = 0;
  const proxies = await Promise.all(APIS.map((api) => startProxy(api, server, folder)));

  /** Prism for the APIs, and the server itself for all else. */
  function wayOf(url = ""): { port: number; path: string } {
    const api = APIS.findIndex((name) => url.startsWith(`/api/${name}/`));
    const port = proxies[api]?.port;
    return port
      ? { port, path: url.slice(`/api/${APIS[api]}`.length) }
      : { port: Number(new URL(server).port), path: url };
  }

  function note({ method, url }: IncomingMessage, { statusCode = 0, headers }: IncomingMessage) {
    if (APIS.some((api) => url?.startsWith(`/api/${api}/`))) compared++;
    const violations: Violation[] = JSON.parse(String(headers["sl-violations"] ?? "[]"));
    // What the service has refused is wrong in the request, as Prism should see.
    if (violations.length > 0 && statusCode >= 400) refused++;
    for (const { location, message } of violations)
      if (location[0] === "response" || statusCode < 400)
        found.push(`${method} ${url} ${statusCode}: ${location.join(".")} ${message}`);
  }

  const front = createServer((request, response) => {
    const { port, path } = wayOf(request.url);
    const { method, headers } = request;
    const onward = send({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      note(request, answer);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await once(front.listen(0), "listening");
  return {
    url: `http://localhost:${(front.address() as AddressInfo).port}`,
    /** What did not fit. */
    found,
    /** How many requests were compared. */
    compared: () => compared,
    /** How many requests both the service and Prism did not take. */
    refused: () => refused,
    stop() {
      front.closeAllConnections();
      front.close();
      for (const { child } of proxies) child.kill();
    },
  };
}

async function startProxy(api: string, server: string, folder: string) {
  const file = join(folder, `${api}.json`);
  // The paths are those after the address that Prism is given.
  writeFileSync(file, JSON.stringify({ ...documentOf(api), servers: [] }));
  const port = await aFreePort();
  const upstream = `${server.replace("localhost", "127.0.0.1")}/api/${api}`;
  const child = spawn(
    process.execPath,
    [PRISM, "proxy", file, upstream, "--port", String(port), "--cors", "false"],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  while (!output.includes("Prism is listening")) {
    if (child.exitCode !== null) throw new Error(`Prism has ended:\n${output}`);
    await pause(100);
  }
  return { port, child };
}

async function aFreePort(): Promise<number> {
  const socket = createSocket().listen(0);
  await once(socket, "listening");
  const { port } = socket.address() as AddressInfo;
  socket.close();
  return port;
}
