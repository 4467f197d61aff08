import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { done, refused } from "../e2e/support/ended.ts";
import { printsOf } from "../support/prints.ts";
import { startCloudflare } from "./support/cloudflare_api.ts";
import { Refusal } from "./support/cloudflare_resources.ts";
import { shippedConfiguration } from "./support/shipped_configuration.ts";

/** Each command starts wrangler several times, which takes seconds. */
vi.setConfig({ testTimeout: 900_000 });

const NAME = "organization-video-visit-service";

const SECRETS = ["AUDIT_SIGNING_KEY", "DIGEST_SECRET", "INVITE_TOKEN_SECRET", "PLATFORM_API_TOKEN"];

/** An empty account, and a copy of the project in which commands may write. */
async function anEmptyAccount() {
  const cloudflare = await startCloudflare();
  onTestFinished(async () => {
    await cloudflare.stop();
  });
  const folder = mkdtempSync(join(tmpdir(), "setup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const path of ["src", "drizzle", "package.json", "tsconfig.json", ".dev.vars.example"])
    cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"), "junction");
  const config = join(folder, "wrangler.toml");
  const shipped = shippedConfiguration();
  writeFileSync(config, shipped.replace(/^name = /m, 'account_id = "ours"\n$&'));
  const start = (command: string, ...args: string[]) =>
    spawn(process.execPath, [`src/dev/${command}.ts`, ...args], {
      cwd: folder,
      env: { ...process.env, ...cloudflare.environment },
    });
  return {
    ...cloudflare,
    folder,
    start,
    run: (command: string, ...args: string[]) => printsOf(start(command, ...args)).ended,
    configText: () => readFileSync(config, "utf8"),
    files: () => readdirSync(folder).sort(),
    secretsIn: (file: string) => parseEnv(readFileSync(join(folder, file), "utf8")),
    changes: () => cloudflare.requests.filter(({ method }) => method !== "GET"),
  };
}

type Account = Awaited<ReturnType<typeof anEmptyAccount>>;

const secretsOf = (account: Account, worker = NAME) =>
  Object.fromEntries(account.scripts.get(worker)?.secrets ?? []);

describe("npm run setup", () => {
  it("creates everything in an empty account, and `deploy` then uploads the Worker", async () => {
    const account = await anEmptyAccount();
    const { folder, databases, settings, buckets, queues, scripts } = account;
    const commandLines: string[] = [];
    account.hooks.before = ({ path }) => {
      if (path.endsWith("/secrets-bulk")) commandLines.push(...runningCommandLines());
    };
    const output = await done(account.run("setup", "--yes", "--location", "weur"));
    expect(settings.get(NAME)).toMatchObject({
      read_replication: { mode: "auto" },
      primary_location_hint: "weur",
    });
    expect([...buckets.keys()]).toEqual(["default/recordings", "default/audit-logs"]);
    expect(buckets.get("default/audit-logs")).toMatchObject([
      { enabled: true, condition: { type: "Age", maxAgeSeconds: 2192 * 24 * 60 * 60 } },
    ]);
    expect([...queues.keys()]).toEqual(["bulk-invites", "webhook-deliveries", "invite-mails", "chores"]);
    expect(account.configText()).toMatch(/\[placement\]\nregion = "aws:eu-central-1"/);

    const made = account.secretsIn("production.secrets");
    expect(Object.keys(made).sort()).toEqual(SECRETS);
    expect(secretsOf(account)).toEqual(made);
    expect(new Set(Object.values(made)).size).toBe(SECRETS.length);
    if (process.platform !== "win32")
      expect(statSync(join(folder, "production.secrets")).mode & 0o777).toBe(0o600);
    expect(readFileSync(".gitignore", "utf8").split("\n")).toContain("*.secrets");
    const { d } = JSON.parse(made.AUDIT_SIGNING_KEY ?? "");
    for (const secret of [...Object.values(made), d] as string[])
      expect([output, account.configText(), ...commandLines].filter((text) => text.includes(secret))).toEqual(
        [],
      );
    if (process.platform === "linux")
      expect(commandLines.some((line) => line.includes("secret\0bulk"))).toBe(true);
    expect(output).toContain("npx wrangler secret put RECORDINGS_S3_ENDPOINT\n");
    expect(output).toMatch(/\n {2}npm run deploy\n$/);

    const before = [account.configText(), account.files()];
    account.requests.length = 0;
    expect(await done(account.run("setup"))).toMatch(/^Everything exists: nothing to do\./);
    expect(account.changes()).toEqual([]);
    expect([account.configText(), account.files()]).toEqual(before);

    const deployed = await done(account.run("deploy"));
    expect(scripts.get(NAME)?.uploaded).toMatchObject({ placement: { region: "aws:eu-central-1" } });
    expect(queues.get("bulk-invites")?.consumer).toBe(NAME);
    expect(deployed).toContain(`npx wrangler d1 time-travel restore ${NAME} --bookmark=bookmark-of-${NAME}`);
    const tables = databases
      .get(NAME)
      ?.prepare("select name from sqlite_schema where name = 'organizations'");
    expect(tables?.all()).toHaveLength(1);
  });

  it("continues with the same secrets after it was killed at any change", async () => {
    const account = await anEmptyAccount();
    let running: ChildProcess;
    // wrangler runs in its own process, so the current change still happens.
    account.hooks.before = ({ method }) => {
      if (method !== "GET") running.kill("SIGKILL");
    };
    let kills = 0;
    const seen = new Set<string>();
    for (let isKilled = true; isKilled; ) {
      running = account.start("setup", "--yes");
      const { code } = await printsOf(running).ended;
      isKilled = code !== 0;
      if (isKilled) kills++;
      if (existsSync(join(account.folder, "production.secrets")))
        seen.add(JSON.stringify(account.secretsIn("production.secrets")));
      expect(kills).toBeLessThan(20);
    }
    expect(kills).toBeGreaterThan(8);
    expect(seen.size).toBe(1);
    expect(secretsOf(account)).toEqual(account.secretsIn("production.secrets"));
    expect(account.settings.get(NAME)).toMatchObject({ read_replication: { mode: "auto" } });
    expect([...account.queues.keys()]).toHaveLength(4);
    expect(await done(account.run("setup"))).toMatch(/^Everything exists/);
  });

  it("changes nothing with --dry-run, or without a terminal to ask", async () => {
    const account = await anEmptyAccount();
    const before = [account.configText(), account.files()];
    const plan = await done(account.run("setup", "--dry-run", "--env", "staging", "--jurisdiction", "eu"));
    expect(plan).toContain("Add the environment staging to wrangler.toml\n");
    expect(plan).toContain(`Create the database ${NAME}-staging in the jurisdiction eu\n`);
    expect(await refused(account.run("setup"))).toMatch(/Nothing was changed: .* Add --yes/);
    expect(account.changes()).toEqual([]);
    expect([account.configText(), account.files()]).toEqual(before);
  });

  it("creates an environment beside production, in a jurisdiction, with its own names and secrets", async () => {
    const account = await anEmptyAccount();
    await done(account.run("setup", "--yes"));
    const production = secretsOf(account);
    await done(account.run("setup", "--yes", "--env", "staging", "--jurisdiction", "eu"));
    expect(account.settings.get(`${NAME}-staging`)).toMatchObject({ jurisdiction: "eu" });
    expect([...account.buckets.keys()].slice(2)).toEqual(["eu/recordings-staging", "eu/audit-logs-staging"]);
    expect(account.queues.get("chores-staging")).toMatchObject({ jurisdiction: "eu" });
    const staging = secretsOf(account, `${NAME}-staging`);
    expect(staging).toEqual(account.secretsIn("staging.secrets"));
    for (const name of SECRETS) expect(staging[name]).not.toBe(production[name]);
    expect(secretsOf(account)).toEqual(production);
    expect(await done(account.run("setup", "--env", "staging", "--jurisdiction", "eu"))).toMatch(
      /^Everything exists/,
    );
    const moved = await refused(account.run("setup", "--jurisdiction", "eu"));
    expect(moved).toContain("exists outside the jurisdiction eu, and cannot be moved");
  });

  it("sets the secrets of its file that the Worker lacks, as after a move to another account", async () => {
    const account = await anEmptyAccount();
    const file = join(account.folder, "production.secrets");
    writeFileSync(file, `DIGEST_SECRET=${"d".repeat(40)}\nINVITE_TOKEN_SECRET=${"i".repeat(40)}\n`);
    await done(account.run("setup", "--yes"));
    expect(secretsOf(account)).toMatchObject({
      DIGEST_SECRET: "d".repeat(40),
      INVITE_TOKEN_SECRET: "i".repeat(40),
    });
    expect(account.secretsIn("production.secrets")).toEqual(secretsOf(account));
  });

  it.each([
    [
      "without permission",
      /\/d1\/database/,
      new Refusal(403, 10000, "Authentication error"),
      /lacks a permission\. It needs .*D1: Edit/,
    ],
    [
      "without R2",
      /\/r2\/buckets$/,
      new Refusal(403, 10042, "Please enable R2 through the Cloudflare Dashboard."),
      /Create the bucket recordings: failed\.\nR2 is not turned on/,
    ],
    [
      "with a name that is taken",
      /\/d1\/database$/,
      new Refusal(400, 7502, "A database with that name already exists"),
      /Create the database .*: failed\.\nThe name is taken\. Choose another database_name/,
    ],
  ])("names the failed step and what to do, in an account %s", async (_, path, refusal, said) => {
    const account = await anEmptyAccount();
    account.hooks.before = (request) => {
      const isAsked = refusal.status === 403 || request.method !== "GET";
      if (isAsked && path.test(request.path)) throw refusal;
    };
    expect(await refused(account.run("setup", "--yes"))).toMatch(said);
  });
});

describe("npm run deploy -- --dry-run", () => {
  it("lists everything that Cloudflare lacks, and changes nothing", async () => {
    const account = await anEmptyAccount();
    const lacking = await refused(account.run("deploy", "--dry-run"));
    for (const missing of [
      `The database ${NAME} (DB)`,
      "The bucket recordings (RECORDINGS)",
      "The queue chores",
      "The secret DIGEST_SECRET",
      "The secret APP_URL",
    ])
      expect(lacking).toContain(`  ${missing}\n`);
    await done(account.run("setup", "--yes"));
    account.settings.set(NAME, { read_replication: { mode: "disabled" } });
    account.requests.length = 0;
    const unreplicated = await refused(account.run("deploy", "--dry-run"));
    expect(unreplicated).toContain(`  Read replication of the database ${NAME} (DB) is off\n`);
    expect(unreplicated).not.toContain("The queue");
    expect(account.changes()).toEqual([]);
  });
});

/** The arguments of all processes, on systems that show them. */
function runningCommandLines(): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8")];
      } catch {
        return [];
      }
    });
}
