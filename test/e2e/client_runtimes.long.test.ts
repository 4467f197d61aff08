import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { printsOf } from "../support/prints.ts";
import { runNpm } from "./support/dev_server.ts";
import { DEMO_ENV, makeProgramFolder } from "./support/guide.ts";

const server = inject("sharedServer");

/** The npm package of each runtime, and how it runs a program. */
const RUNTIMES: Record<string, { install: string; command: (installed: string) => [string, ...string[]] }> = {
  "Node 20": { install: "node@20", command: (installed) => [join(installed, "node/bin/node")] },
  "Node 22": { install: "node@22", command: (installed) => [join(installed, "node/bin/node")] },
  "Node 24": { install: "node@24", command: (installed) => [join(installed, "node/bin/node")] },
  Deno: {
    install: "deno",
    command: (installed) => [join(installed, ".bin/deno"), "run", "--allow-all", "--node-modules-dir=manual"],
  },
  Bun: { install: "bun", command: (installed) => [join(installed, ".bin/bun"), "run"] },
};

/** A program with a request, a refused request, a list as NDJSON, and the check of the access log. */
const steps = (client: string, accessLog: string) => `
${client}
${accessLog}
const { VISITS_URL, CLIENT_ID, CLIENT_SECRET } = process.env;
const settings = { baseUrl: VISITS_URL, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
const visits = createClient(settings);
async function main() {
  const { roles } = await visits.listRoles();
  const refused = await visits.getWaitingRoom({ slug: "none" }).catch((error) => error);
  let entries = 0;
  for await (const { id } of await visits.listAccessLogs({}, { accept: "application/x-ndjson" })) entries += id > 0;
  const { days } = await verifyAccessLog(settings);
  console.log(JSON.stringify([roles.length, refused instanceof VideoVisitError, refused.status, entries > 3, days > 0]));
}
main();
`;

const PROGRAMS = {
  "program.mjs": steps(
    'import { createClient, VideoVisitError } from "organization-video-visit-client";',
    'import { verifyAccessLog } from "organization-video-visit-client/access-log"; import process from "node:process";',
  ),
  "program.cjs": steps(
    'const { createClient, VideoVisitError } = require("organization-video-visit-client");',
    'const { verifyAccessLog } = require("organization-video-visit-client/access-log"); const process = require("node:process");',
  ),
};

let folder: string;

beforeAll(async () => {
  folder = makeProgramFolder();
  for (const [file, source] of Object.entries(PROGRAMS)) writeFileSync(join(folder, file), source);
  await fetch(`${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`);
});

afterAll(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Installs a package in its own folder, because all versions of Node have the same name. */
async function installed(name: string): Promise<string> {
  const prefix = join(folder, name.replace("@", "-"));
  mkdirSync(prefix);
  await runNpm(["install", name, "--prefix", prefix, "--no-audit", "--no-fund"], prefix);
  return join(prefix, "node_modules");
}

describe.each(Object.entries(RUNTIMES))("The client package in %s", (_, { install, command }) => {
  let run: [string, ...string[]];

  beforeAll(async () => {
    run = command(await installed(install));
  });

  it.each(Object.keys(PROGRAMS))("returns the same results as in every runtime: %s", async (program) => {
    const [executable, ...args] = run;
    const env = { ...process.env, VISITS_URL: server.url, ...DEMO_ENV };
    const child = spawn(executable, [...args, program], { cwd: folder, env });
    const { code, stdout, stderr } = await printsOf(child).ended;
    expect([code, stdout.trim()], stderr).toEqual([0, JSON.stringify([3, true, 404, true, true])]);
  });
});
