import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { unstable_readConfig } from "wrangler";

const run = (file: string, args: string[], cwd = ".") =>
  spawnSync(process.execPath, [file, ...args], { encoding: "utf8", cwd });

const scripts: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;

/** Of package.json, with the file that each runs. */
const COMMANDS = Object.entries(scripts).flatMap(([name, script]) => {
  const file = /node (src\/dev\/\w+\.ts)/.exec(script)?.[1];
  return file ? [[name, file] as const] : [];
});

describe.each(COMMANDS)("npm run %s", (command, file) => {
  it("says with --help how it is used, and does nothing", () => {
    const { status, stdout, stderr } = run(file, ["--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: npm run ${command}\\b.*\\n\\n`));
  });

  it("fails for an argument that it does not know, and names it", () => {
    const { status, stdout, stderr } = run(file, ["--nosuch"]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^Unknown option '--nosuch'/);
    expect(stderr).not.toContain("    at ");
  });
});

/** A copy of the project, in which commands may write. */
function aProject() {
  const folder = mkdtempSync(join(tmpdir(), "commands-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of [
    "src",
    "drizzle",
    "package.json",
    "tsconfig.json",
    "wrangler.toml",
    ".dev.vars.example",
  ])
    cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"), "junction");
  return { folder, run: (command: string, ...args: string[]) => run(`src/dev/${command}.ts`, args, folder) };
}

describe("A second environment", () => {
  const named = ({
    database_name,
    bucket_name,
    queue,
    dead_letter_queue,
    namespace_id,
  }: Record<string, unknown>) =>
    [database_name, bucket_name, queue, dead_letter_queue, namespace_id].filter((each) => each !== undefined);

  /** All that has a name at Cloudflare, and all bindings. */
  function resourcesOf(folder: string, env?: string) {
    const path = join(folder, "wrangler.toml");
    const config = unstable_readConfig({ config: path, env }, { hideWarnings: true });
    const { d1_databases, r2_buckets, queues, ratelimits, send_email, vars } = config;
    const rows = [d1_databases, r2_buckets, queues.producers, queues.consumers, ratelimits].flat();
    return {
      names: new Set((rows as Record<string, unknown>[]).flatMap(named)),
      bindings: [...rows, ...send_email].map(
        ({ binding, name }: { binding?: string; name?: string }) => binding ?? name,
      ),
      vars: Object.keys(vars).filter((name) => name !== "RECORDINGS_S3_BUCKET"),
    };
  }

  it("has all that the first one has, under names of its own, and is deployed by itself", {
    timeout: 120_000,
  }, () => {
    const project = aProject();
    expect(project.run("environments_add", "--name", "Staging").status).toBe(1);
    const { status, stdout } = project.run("environments_add", "--name", "staging");
    expect(status).toBe(0);
    const [first, second] = [resourcesOf(project.folder), resourcesOf(project.folder, "staging")];
    expect(second.bindings).toEqual(first.bindings);
    expect(second.vars.sort()).toEqual(first.vars.sort());
    expect([...second.names].filter((name) => first.names.has(name))).toEqual([]);
    const made = [...second.names].filter((name) => String(name).endsWith("-staging"));
    expect(made.filter((name) => !stdout.includes(` ${name}`))).toEqual([]);
    expect(project.run("environments_add", "--name", "staging").stderr).toContain("already");

    const dry = project.run("deploy", "--env", "staging", "--dry-run");
    expect(dry.stdout).toContain("DB (organization-video-visit-service-staging) at Cloudflare");
    expect(dry.stdout).toContain("env.AUDIT_LOGS (audit-logs-staging)");
    expect(dry.status).toBe(0);
  });
});

it("npm run deploy -- --dry-run changes nothing, and asks nobody", { timeout: 120_000 }, () => {
  const project = aProject();
  const { status, stdout } = project.run("deploy", "--dry-run");
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^It would migrate DB \(organization-video-visit-service\) at Cloudflare, up to 0000_/,
  );
  expect(stdout).toContain("--dry-run: exiting now");
  const changed = spawnSync("diff", [
    "-rq",
    "--exclude=node_modules",
    "drizzle",
    join(project.folder, "drizzle"),
  ]);
  expect(String(changed.stdout)).toBe("");
});
