/** Sends the requests of the tour and prints the steps; with --verbose, also each request and response. */
import { existsSync, readFileSync } from "node:fs";
import { inspect, parseEnv } from "node:util";
import { type Client, createClient, VideoVisitError } from "../../dist/client/external/index.js";
import { positionals, values } from "./demo_arguments.ts";
import { platformAt } from "./demo_platform.ts";

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

export const demoClient = (shown: Record<"client_id" | "client_secret", string>): Client =>
  createClient({
    baseUrl: server,
    clientId: shown.client_id,
    clientSecret: shown.client_secret,
    fetch: observedFetch,
  });

export const platform = platformAt(server, settings.PLATFORM_API_TOKEN, observedFetch);

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
