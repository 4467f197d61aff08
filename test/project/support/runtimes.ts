import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createTestHarness, unstable_readConfig } from "wrangler";

const SCENARIOS = "test/project/support/client_scenarios.mjs";

const imports = (specifier: (file: string) => string) => `
import * as client from ${JSON.stringify(specifier(resolve("dist/client/external/index.js")))};
import { runScenarios } from ${JSON.stringify(specifier(resolve(SCENARIOS)))};`;

const COMPATIBILITY_DATE = unstable_readConfig({ config: "wrangler.toml" }).compatibility_date;

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export type Outcomes = Record<string, any>;

/** Runs the scenarios with `given` as JSON, and returns their outcomes. */
type Run = (given: object) => Promise<Outcomes>;

/** The first Node on this machine that is older than 24, the version that runs the tests. */
const otherNode = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .map((folder) => join(folder, process.platform === "win32" ? "node.exe" : "node"))
  .find((file) => /^v2[0-3]\./.test(spawnSync(file, ["--version"], { encoding: "utf8" }).stdout ?? ""));

export const RUNTIMES: Record<string, Run> = {
  "Node 24": inNode(process.execPath),
  ...(otherNode ? { "an older Node": inNode(otherNode) } : {}),
  workerd: inWorkerd,
};

if (!otherNode)
  process.stdout.write("Skipped: the client package is not run in Node 20, because it is not installed.\n");

function inNode(node: string): Run {
  return async (given) => {
    const program = `${imports((file) => pathToFileURL(file).href)}
process.stdout.write(JSON.stringify(await runScenarios(client, ${JSON.stringify(given)})));`;
    const { stdout } = await promisify(execFile)(node, ["--input-type=module", "--eval", program]);
    return JSON.parse(stdout);
  };
}

async function inWorkerd(given: object) {
  const folder = mkdtempSync(join(tmpdir(), "client-"));
  writeFileSync(
    join(folder, "worker.mjs"),
    `${imports((file) => file)}
export default { fetch: async (request) => Response.json(await runScenarios(client, await request.json())) };`,
  );
  const configPath = join(folder, "wrangler.json");
  writeFileSync(
    configPath,
    JSON.stringify({ name: "program", main: "worker.mjs", compatibility_date: COMPATIBILITY_DATE }),
  );
  const harness = createTestHarness({ workers: [{ configPath }] });
  try {
    await harness.listen();
    const response = await harness.fetch("/", { method: "POST", body: JSON.stringify(given) });
    return (await response.json()) as Outcomes;
  } finally {
    await harness.close();
    rmSync(folder, { recursive: true });
  }
}
