/** Sends the requests of `npm run demo` and prints the steps; with --verbose, also each request and response. */
import { existsSync, readFileSync } from "node:fs";
import { inspect, parseEnv } from "node:util";
import { type Client, createClient, VideoVisitError } from "../../dist/client/external/index.js";
import { requireArguments } from "./command.ts";

const { values, positionals } = requireArguments(
  `
Usage: npm run demo -- [URL] [--verbose]

  URL                   the running server; http://localhost:8787 by default
  --verbose             shows each request and response
`,
  { verbose: { type: "boolean" } },
  { allowPositionals: true },
);
const server = positionals[0] ?? "http://localhost:8787";
if (!existsSync(".dev.vars"))
  stop("There is no .dev.vars. Run `npm run dev`, which creates it and starts the server.");
const settings = parseEnv(readFileSync(".dev.vars", "utf8"));

let newestStatus = 0;
let exchanges = "";

const MAX_LINE_LENGTH = 105;

export const chapter = (title: string) => process.stdout.write(`\n${title}\n`);

export function printStep(text: string, outcome: unknown = "") {
  const line = `  ${text.padEnd(51)} → ${outcome}`;
  process.stdout.write(
    line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…\n` : `${line}\n`,
  );
  process.stdout.write(exchanges);
  exchanges = "";
}

export async function step<Result>(text: string, request: Promise<Result>, field?: keyof Result & string) {
  const result = await request;
  printStep(text, field ? `${newestStatus}, ${field}: ${summary(result[field])}` : newestStatus);
  return result;
}

const summary = (value: unknown) =>
  Array.isArray(value) && typeof value[0] !== "string"
    ? value.length
    : inspect(value, { breakLength: Number.POSITIVE_INFINITY });

/** Waits for a request that the service must refuse, and prints the error. */
export async function refusedStep(text: string, request: Promise<unknown>) {
  const error = await request.then(
    () => stop(`${text}: the service did not refuse it.`),
    (reason) => reason,
  );
  if (!(error instanceof VideoVisitError && error.status && error.status < 500)) throw error;
  printStep(text, `${error.status}, ${error.text}`);
}

export const demoClient = ({
  client_id,
  client_secret,
}: {
  client_id: string;
  client_secret: string;
}): Client =>
  createClient({ baseUrl: server, clientId: client_id, clientSecret: client_secret, fetch: observedFetch });

/**
 * Sends a request to the platform API.
 *
 * @throws VideoVisitError if the service refuses it, like the client package
 */
export async function platform(method: string, path: string, body?: object) {
  const response = await observedFetch(`${server}/api/platform${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${settings.PLATFORM_API_TOKEN}`,
      ...(body && { "Content-Type": "application/json" }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows what it asks for
  const answer: any = await response.json().catch(() => null);
  if (!response.ok)
    throw new VideoVisitError(answer?.error ?? "", {
      method,
      path,
      failed: "response",
      status: response.status,
    });
  return answer;
}

async function observedFetch(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(url, init).catch(() =>
    stop(`${server} cannot be reached. Start it with \`npm run dev\`.`),
  );
  newestStatus = response.status;
  if (values.verbose)
    exchanges += `
    ${init?.method} ${String(url).slice(server.length)}
${indented(String(init?.body ?? ""))}    → ${response.status}
${indented(await response.clone().text())}`;
  return response;
}

const indented = (json: string) =>
  json && `${JSON.stringify(JSON.parse(json), null, 2).replace(/^/gm, "      ")}\n`;

function stop(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
