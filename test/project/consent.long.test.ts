import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import { printsOf } from "../support/prints.ts";
import { aServiceAtCloudflare, NAME } from "./support/service_at_cloudflare.ts";

/** Each command loads wrangler, and some start it, which takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 600_000 });

/** Two databases, and an organization in the first that has moved to the second. */
async function aService() {
  const service = await aServiceAtCloudflare([1]);
  const { directory, databaseOf } = service;
  directory.exec("insert into places (id, slug, shard) values (17, 'hillside', 0), (18, 'lakeside', 0)");
  for (const [database, id] of [
    [directory, 18],
    [directory, 17],
    [databaseOf(1), 17],
  ] as const)
    database.exec(
      `insert into organizations (id, slug, name, created_at, updated_at) values (${id}, 'o-${id}', 'O', 1, 1)`,
    );
  directory.exec("insert into moves (organization_id, shard, since) values (17, 1, 1)");
  directory.exec("update places set shard = 1 where id = 17");
  return service;
}

type Service = Awaited<ReturnType<typeof aService>>;

const contentOf = (database: DatabaseSync) =>
  database
    .prepare("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => database.prepare(`select * from "${name}"`).all());

/** Everything that a command could change: the databases, the account and the configuration. */
const stateOf = ({ databases, config, own, settings, queues, scripts }: Service) => [
  [...databases].map(([name, database]) => [name, contentOf(database)]),
  [...settings],
  [...queues],
  [...scripts.keys()],
  readFileSync(config, "utf8"),
  existsSync(join(own, ".wrangler-adding.toml")),
];

/** Answers the question of a command in a terminal. `script` gives a program one. */
function inTerminal({ config, environment }: Service, [command, ...args]: string[], answer: string) {
  const line = [process.execPath, resolve(`src/dev/${command}.ts`), "--config", config, ...args];
  const child = spawn("script", ["-qec", line.map((each) => `'${each}'`).join(" "), "/dev/null"], {
    env: { ...process.env, ...environment },
  });
  child.stdout.on("data", (text) => {
    if (/\(y\/N\) $/.test(String(text))) child.stdin.write(`${answer}\n`);
  });
  return printsOf(child).ended;
}

/** Each command that changes production, what its plan says, and how to prepare for it. */
const COMMANDS: [string[], string, ((service: Service) => void)?][] = [
  [
    ["organizations_move", "--remote", "--organization", "18", "--to", "1"],
    "Move organization 18 from shard 0 to shard 1: copy 1 rows",
  ],
  [
    ["organizations_move", "--remote", "--organization", "17", "--delete-old"],
    "Delete for good the 1 rows that organization 17 has left in shard 0",
  ],
  [
    ["organizations_move", "--remote", "--organization", "18", "--to", "1", "--undo"],
    "Undo the move of organization 18",
    ({ directory }) => directory.exec("insert into moves (organization_id, since) values (18, 1)"),
  ],
  [["shards_add", "--remote"], `Create the database ${NAME}-2`],
  [["backup", "--remote", "--shipped"], `Note in ${NAME}-1 (DB_1) that its backup is in a safe place`],
  [["restore", "--remote", "--after-time-travel"], `Make ${NAME}-1 (DB_1) quiet`],
  [
    ["restore", "--remote", "--resume"],
    `Resume ${NAME} (DB)`,
    ({ directory }) => directory.exec("insert into database_settings (name, value) values ('quiet', 1)"),
  ],
];

describe.each(COMMANDS)("npm run %j", (command, plan, prepare) => {
  it("shows its plan and changes nothing with --dry-run, without a terminal, and after no; then does it with --yes", async () => {
    const service = await aService();
    prepare?.(service);
    const [name = "", ...args] = command;
    const before = stateOf(service);
    const dry = await service.run(name, ...args, "--dry-run");
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining(`To do:\n`) });
    expect(dry.stdout).toContain(plan);
    expect(await service.run(name, ...args)).toMatchObject({
      code: 1,
      stdout: dry.stdout,
      stderr: "Nothing was changed: there is no terminal to ask in. Add --yes to carry out the plan.\n",
    });
    if (process.platform === "linux") {
      const declined = await inTerminal(service, command, "n");
      expect(declined).toMatchObject({ code: 1, stdout: expect.stringContaining("Nothing was changed.") });
    }
    expect(stateOf(service)).toEqual(before);
    const done = await service.run(name, ...args, "--yes");
    expect(done.code, done.output).toBe(0);
    expect(stateOf(service)).not.toEqual(before);
  });
});
