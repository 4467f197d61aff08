import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { migrationFiles } from "../../src/dev/migrations.ts";
import { SECRETS_BY_HAND } from "../../src/dev/setup_secrets.ts";
import { done, refused } from "../e2e/support/ended.ts";
import { printsOf } from "../support/prints.ts";
import { type CloudflareRequest, startCloudflare } from "./support/cloudflare_api.ts";
import { Refusal } from "./support/cloudflare_resources.ts";
import { aCopyOf, shippedConfiguration } from "./support/copied_project.ts";

/** Each command starts wrangler several times, which takes seconds. */
vi.setConfig({ testTimeout: 900_000 });

const [MIGRATION = ""] = migrationFiles();

const NAME = "organization-video-visit-service";

const SECRETS = ["AUDIT_SIGNING_KEY", "DIGEST_SECRET", "INVITE_TOKEN_SECRET", "PLATFORM_API_TOKEN"];

/** An empty account, and a copy of the project in which commands may write. */
async function anEmptyAccount() {
  const cloudflare = await startCloudflare();
  onTestFinished(async () => {
    await cloudflare.stop();
  });
  const folder = aCopyOf(
    "src",
    "drizzle",
    "package.json",
    "tsconfig.json",
    ".dev.vars.example",
    ".gitignore",
  );
  const config = join(folder, "wrangler.toml");
  const shipped = shippedConfiguration();
  writeFileSync(config, shipped.replace(/^name = /m, 'account_id = "ours"\n$&'));
  const start = (command: string, args: string[], env: Record<string, string> = {}) =>
    spawn(process.execPath, [`src/dev/${command}.ts`, ...args], {
      cwd: folder,
      env: { ...process.env, ...cloudflare.environment, ...env },
    });
  return {
    ...cloudflare,
    folder,
    start,
    run: (command: string, ...args: string[]) => printsOf(start(command, args)).ended,
    configText: () => readFileSync(config, "utf8"),
    files: () => readdirSync(folder).sort(),
    secretsIn: (file: string) => parseEnv(readFileSync(join(folder, file), "utf8")),
    changes: () => cloudflare.requests.filter((request) => request.method !== "GET" && !isQuery(request)),
  };
}

const isQuery = ({ path, body }: CloudflareRequest) =>
  path.endsWith("/query") && (body.batch as { sql: string }[])?.every(({ sql }) => sql.startsWith("SELECT"));

type Account = Awaited<ReturnType<typeof anEmptyAccount>>;

const secretsOf = (account: Account, worker = NAME) =>
  Object.fromEntries(account.scripts.get(worker)?.secrets ?? []);

describe("npm run setup", () => {
  it("creates everything in an empty account, and `deploy` then uploads the Worker", async () => {
    const account = await anEmptyAccount();
    const { folder, databases, settings, buckets, queues, scripts, hooks } = account;
    const commandLines: string[] = [];
    hooks.before = ({ path }) => {
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
    const unfinished = await refused(account.run("deploy", "--yes"));
    expect(unfinished).toContain("Nothing is deployed. Cloudflare lacks:\n  The secret APP_URL\n");
    expect(account.changes()).toEqual([]);
    expect([account.configText(), account.files()]).toEqual(before);

    const commit = readyToDeploy(account);
    const dry = await done(account.run("deploy", "--dry-run"));
    expect(dry).toContain(`Migrate ${NAME} (DB): ${MIGRATION}\n`);
    expect(await refused(account.run("deploy"))).toContain("there is no terminal to ask in. Add --yes");
    expect(account.changes()).toEqual([]);
    const first = await done(account.run("deploy", "--yes"));
    expect(scripts.get(NAME)?.uploaded).toMatchObject({
      placement: { region: "aws:eu-central-1" },
      annotations: { "workers/tag": commit },
      bindings: expect.arrayContaining([{ type: "plain_text", name: "VERSION", text: commit }]),
    });
    expect(queues.get("bulk-invites")?.consumer).toBe(NAME);
    expect(first).toContain(` runs ${commit}, and is ok.\n`);
    expect(first).not.toContain("To go back");
    const tables = "select name from sqlite_schema where name = 'organizations'";
    expect(databases.get(NAME)?.prepare(tables).all()).toHaveLength(1);

    const { health } = hooks;
    hooks.health = () => ({ status: 503, body: { error: "The service is not ready: set APP_URL" } });
    // Without a pending migration, nobody is asked.
    const unwell = await refused(account.run("deploy"));
    expect(unwell).toContain("is not well: ");
    expect(unwell).toContain("/health answered 503: The service is not ready: set APP_URL.");
    expect(unwell).toContain("npx wrangler rollback");
    hooks.health = health;
    writeFileSync(join(folder, "drizzle/0001_more.sql"), "CREATE TABLE more (id INTEGER);\n");
    const second = await done(account.run("deploy", "--yes"));
    expect(second).toContain(
      `npx wrangler d1 time-travel restore ${NAME} --bookmark=bookmark-of-${NAME} && npm run restore -- --remote --after-time-travel --yes\n`,
    );
    expect(second).toContain("npx wrangler queues pause-delivery webhook-deliveries");
    expect(second).toContain(` runs ${commit}-dirty, and is ok.\n`);

    account.requests.length = 0;
    const none = await done(account.run("deploy", "--dry-run"));
    expect(none).toContain(`${NAME} (DB): no migration is pending\n`);
    const file = join(folder, "drizzle", MIGRATION);
    writeFileSync(file, `${readFileSync(file, "utf8")}\n-- changed`);
    for (const flag of ["--yes", "--dry-run"])
      expect(await refused(account.run("deploy", flag))).toContain(
        `Nothing is deployed. ${MIGRATION} was changed after it had run.`,
      );
    rmSync(join(folder, "drizzle/SHA256SUMS"));
    const unknown = await refused(account.run("deploy", "--yes"));
    expect(unknown).toContain(`does not have ${MIGRATION}, which has run`);
    expect(account.changes()).toEqual([]);
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
      running = account.start("setup", ["--yes"]);
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

  it("changes nothing with --dry-run, without a terminal to ask, or without an account", async () => {
    const account = await anEmptyAccount();
    const before = [account.configText(), account.files()];
    const plan = await done(account.run("setup", "--dry-run", "--env", "staging", "--jurisdiction", "eu"));
    expect(plan).toContain("Add the environment staging to wrangler.toml\n");
    expect(plan).toContain(`Create the database ${NAME}-staging in the jurisdiction eu\n`);
    expect(plan).toContain("(six years). THIS CANNOT BE TAKEN BACK");
    expect(await refused(account.run("setup"))).toMatch(/Nothing was changed: .* Add --yes/);
    const american = await done(account.run("setup", "--dry-run", "--jurisdiction", "us"));
    expect(american).toContain(`Create the database ${NAME} in the jurisdiction us\n`);
    expect(american).toContain("Create the bucket recordings in enam\n");
    const lacking = await refused(account.run("deploy", "--dry-run"));
    for (const missing of [
      `The database ${NAME} (DB)`,
      "The bucket recordings (RECORDINGS)",
      "The queue chores",
      "The secret DIGEST_SECRET",
      "The secret APP_URL",
    ])
      expect(lacking).toContain(`  ${missing}\n`);
    expect(account.changes()).toEqual([]);
    expect([account.configText(), account.files()]).toEqual(before);
    account.requests.length = 0;
    const env = { CLOUDFLARE_API_TOKEN: "", HOME: account.folder, XDG_CONFIG_HOME: account.folder };
    const unasked = await done(printsOf(account.start("setup", ["--dry-run"], env)).ended);
    expect(unasked).toContain(
      "You are not logged in at Cloudflare: this is the plan for an empty account.\n",
    );
    expect(unasked).toContain(`Create the database ${NAME}\n`);
    expect(unasked).toContain("Create the queue chores\n");
    const loggedOut = await refused(printsOf(account.start("setup", ["--yes"], env)).ended);
    expect(loggedOut).toContain("npx wrangler login");
    expect(account.requests).toEqual([]);
  });

  it("creates an environment beside production, whose secrets a file had, with its own names and secrets", async () => {
    const account = await anEmptyAccount();
    // The file moved here from another account.
    const known = { DIGEST_SECRET: "d".repeat(40), INVITE_TOKEN_SECRET: "i".repeat(40) };
    const lines = Object.entries(known).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(account.folder, "production.secrets"), lines.join(""));
    await done(account.run("setup", "--yes"));
    const production = secretsOf(account);
    expect(production).toMatchObject(known);
    expect(production).toEqual(account.secretsIn("production.secrets"));
    await done(account.run("setup", "--yes", "--env", "staging", "--jurisdiction", "eu"));
    expect(account.settings.get(`${NAME}-staging`)).toMatchObject({ jurisdiction: "eu" });
    expect([...account.buckets.keys()].slice(2)).toEqual(["eu/recordings-staging", "eu/audit-logs-staging"]);
    expect(account.queues.get("chores-staging")).toMatchObject({ jurisdiction: "eu" });
    const staging = secretsOf(account, `${NAME}-staging`);
    expect(staging).toEqual(account.secretsIn("staging.secrets"));
    for (const name of SECRETS) expect(staging[name]).not.toBe(production[name]);
    expect(secretsOf(account)).toEqual(production);
    const again = await done(account.run("setup", "--env", "staging", "--jurisdiction", "eu"));
    expect(again).toMatch(/^Everything exists/);
    const moved = await refused(account.run("setup", "--jurisdiction", "eu"));
    expect(moved).toContain("exists outside the jurisdiction eu, and cannot be moved");

    account.settings.set(NAME, { read_replication: { mode: "disabled" } });
    account.requests.length = 0;
    const unreplicated = await refused(account.run("deploy", "--dry-run"));
    expect(unreplicated).toContain(`  Read replication of the database ${NAME} (DB) is off\n`);
    expect(unreplicated).not.toContain("The queue");
    expect(unreplicated.trimEnd().split("\n").slice(-3)).toEqual([
      "To do:",
      `  Migrate ${NAME} (DB): ${MIGRATION}`,
      "  Upload the Worker",
    ]);
    expect(account.changes()).toEqual([]);
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

/** Does what is left for a person, commits everything, and answers `/health` with the uploaded version. Returns the commit. */
function readyToDeploy({ folder, configText, environment, hooks, requests, scripts }: Account): string {
  for (const name of SECRETS_BY_HAND) scripts.get(NAME)?.secrets.set(name, "secret");
  const config = configText().replace(
    'PUBLIC_URL = ""',
    `PUBLIC_URL = "${environment.CLOUDFLARE_API_BASE_URL}"`,
  );
  writeFileSync(join(folder, "wrangler.toml"), config);
  hooks.health = () => {
    const version = scripts.get(NAME)?.uploaded?.bindings?.find(({ name }) => name === "VERSION")?.text;
    return { status: 200, body: { status: "ok", version } };
  };
  requests.length = 0;
  const git = (...args: string[]) => spawnSync("git", args, { cwd: folder, encoding: "utf8" }).stdout.trim();
  git("init", "--quiet");
  writeFileSync(join(folder, ".git/info/exclude"), "node_modules\n*.secrets\n");
  git("add", "--all");
  const author = ["-c", "user.name=Operator", "-c", "user.email=operator@example.com"];
  git(...author, "commit", "--quiet", "-m", "Deploy");
  return git("rev-parse", "--short=12", "HEAD");
}

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
