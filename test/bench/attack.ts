/**
 * `node test/bench/attack.ts`: measures how a client that attacks within its limits affects another organization. See
 * README.md in this folder.
 */
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { withLocalBindings } from "../../src/dev/local_bindings.ts";
import { applyMigrations } from "../../src/dev/local_database.ts";
import { runWith } from "../../src/dev/statement_runner.ts";
import { MINUTE, SECOND } from "../../src/units.ts";
import { startServerAlone } from "../e2e/support/dev_server.ts";
import { anOrganization } from "../e2e/support/organization.ts";
import { ordinaryPaths, send } from "./attack_requests.ts";
import { WAYS } from "./attack_ways.ts";
import { median, quantile } from "./statistics.ts";

/** How long the other organization is measured before and after each minute of the attack. */
const QUIET = 15 * SECOND;

/** In milliseconds: the pause between its requests, so that they stay within the rate limit of its client. */
const PAUSE = 60;

/** A larger ratio is marked. */
const BOUND = 2;

const { values } = parseArgs({
  options: { way: { type: "string" }, minutes: { type: "string", default: "1" } },
});

if (values.way === undefined) attackInEachWay();
else await attack(values.way, Number(values.minutes));

/** Runs each way in its own process, with its own server. */
function attackInEachWay() {
  for (const way of Object.keys(WAYS)) {
    const args = [...process.execArgv, import.meta.filename, "--way", way, "--minutes", values.minutes];
    spawnSync(process.execPath, args, { stdio: "inherit" });
  }
}

async function attack(name: string, minutes: number) {
  if (!existsSync(".dev.vars")) copyFileSync(".dev.vars.example", ".dev.vars");
  const folder = mkdtempSync(join(tmpdir(), "attack-"));
  await withLocalBindings({ persistTo: folder }, (env) => applyMigrations(runWith(env)));
  const server = startServerAlone({ data: folder, temporary: folder });
  let attacker: ChildProcess | undefined;
  try {
    const { url } = await server.ready;
    const ask = await anotherOrganization(url);
    attacker = fork(join(import.meta.dirname, "attacker.ts"), [name, url, folder]);
    await message(attacker);
    // The first requests compile code.
    await latenciesDuring(ask, 5 * SECOND);
    const quiet = [await latenciesDuring(ask, QUIET)];
    const attacked: number[][][] = [];
    const statuses: Record<string, number> = {};
    let cpu = 0;
    for (let minute = 0; minute < minutes; minute++) {
      const before = cpuOf(server.pid);
      attacker.send("begin");
      attacked.push(await latenciesDuring(ask, MINUTE));
      attacker.send("stop");
      cpu += cpuOf(server.pid) - before;
      for (const [status, count] of Object.entries(await message(attacker)))
        statuses[status] = (statuses[status] ?? 0) + Number(count);
      quiet.push(await latenciesDuring(ask, QUIET));
    }
    process.stdout.write(`${report(name, quiet, attacked, { statuses, cpu })}\n`);
  } finally {
    attacker?.kill();
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function message(child: ChildProcess): Promise<Record<string, number>> {
  const end = new AbortController();
  const died = once(child, "exit", end).then(() => Promise.reject(new Error("The attacker has died")));
  const [sent] = await Promise.race([once(child, "message", end), died]);
  end.abort();
  return sent;
}

/** The CPU seconds that a process group has used: the server's processes are one group. NaN if there is no `ps`. */
function cpuOf(group: number | undefined): number {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pgid=,cputimes="], { encoding: "utf8" });
  if (!stdout) return Number.NaN;
  const rows = stdout
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number));
  return rows.reduce((sum, [pgid, seconds = 0]) => (pgid === group ? sum + seconds : sum), 0);
}

/** Opens an organization whose client sends five ordinary requests. Each returned function sends one of them. */
async function anotherOrganization(url: string) {
  const clinic = await anOrganization(url, { name: "Other" });
  const paths = await ordinaryPaths(clinic);
  return paths.map((path) => async () => {
    const began = performance.now();
    const status = await send({ url }, clinic.credentials, "GET", path);
    if (status !== 200) throw new Error(`GET ${path} answered ${status}`);
    return performance.now() - began;
  });
}

/** The milliseconds of each request. The requests are sent one after another. */
async function latenciesDuring(ask: (() => Promise<number>)[], duration: number): Promise<number[][]> {
  const latencies: number[][] = ask.map(() => []);
  const end = performance.now() + duration;
  while (performance.now() < end)
    for (const [n, one] of ask.entries()) {
      latencies[n]?.push(await one());
      await setTimeout(PAUSE);
    }
  return latencies;
}

/** A row of the table in the README. */
function report(
  name: string,
  quiet: number[][][],
  attacked: number[][][],
  { statuses, cpu }: { statuses: Record<string, number>; cpu: number },
) {
  const before = quiet[0]?.flat() ?? [];
  const during = attacked.flat(2);
  const after = quiet.slice(1).flat(2);
  // Compares each minute with the quiet time before and after it, so that the machine's other load affects both.
  const ratios = attacked.map((each, n) => {
    const beside = [...(quiet[n] ?? []), ...(quiet[n + 1] ?? [])].flat();
    return median(each.flat()) / median(beside);
  });
  const ratio = median(ratios);
  const answers = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  const cells = [
    `\`${name}\`: ${WAYS[name]?.about}`,
    String(attacked.length),
    answers.join(", "),
    ...[before, during, after].map((each) => median(each).toFixed(1)),
    `${ratio.toFixed(2)}${ratio > BOUND ? " ⚠" : ""}`,
    quantile(during, 0.95).toFixed(0),
    `${(((cpu * SECOND) / (attacked.length * MINUTE)) * 100).toFixed(0)} %`,
  ];
  return `| ${cells.join(" | ")} |`;
}
