import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { withEnvironment } from "../../src/dev/setup_configuration.ts";
import { aCopyOf, shippedConfiguration } from "./support/copied_project.ts";

/** A copy of the project in which commands may write, with only the first environment. */
function aProject() {
  const folder = aCopyOf("src", "drizzle", "package.json", "tsconfig.json", ".dev.vars.example");
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, shippedConfiguration());
  return {
    folder,
    run: (command: string, ...args: string[]) =>
      spawnSync(process.execPath, [`src/dev/${command}.ts`, ...args], { encoding: "utf8", cwd: folder }),
    rewrite: (change: (text: string) => string) =>
      writeFileSync(config, change(readFileSync(config, "utf8"))),
    /** The names of all resources, all bindings, and the routes. */
    resources(env?: string) {
      const all = unstable_readConfig({ config, env }, { hideWarnings: true });
      const { d1_databases, r2_buckets, queues, ratelimits, send_email, vars, routes } = all;
      const rows = [d1_databases, r2_buckets, queues.producers, queues.consumers, ratelimits].flat();
      return {
        names: new Set((rows as Record<string, unknown>[]).flatMap(namesOf)),
        bindings: [...rows, ...send_email].map(
          ({ binding, name }: { binding?: string; name?: string }) => binding ?? name,
        ),
        vars: Object.keys(vars).filter((name) => name !== "RECORDINGS_S3_BUCKET"),
        routes,
      };
    },
  };
}

const NAMES = ["database_name", "database_id", "bucket_name", "queue", "namespace_id"];

const namesOf = (row: Record<string, unknown>) =>
  NAMES.map((name) => row[name]).filter((each) => each !== undefined);

describe("A second environment", () => {
  it("has all resources of the first one, with its own names and address", () => {
    const project = aProject();
    const route = 'routes = [{ pattern = "visits.example.com", custom_domain = true }]';
    project.rewrite((text) => {
      const own = `${route}\n${text}`
        .replace('binding = "DB"', 'database_id="c7a1"\n$&')
        .replace("\n[vars]\n", '$&RECORDINGS_S3_BUCKET = "recordings"\n');
      return withEnvironment(own, "staging");
    });
    const [first, second] = [project.resources(), project.resources("staging")];
    expect(second.bindings).toEqual(first.bindings);
    expect(second.vars.sort()).toEqual(first.vars.sort());
    expect([...second.names].filter((name) => first.names.has(name))).toEqual([]);
    expect(first.routes).toHaveLength(1);
    expect(second.routes).toEqual([]);
    const made = [...second.names].filter((name) => String(name).endsWith("-staging"));
    expect(made.length).toBeGreaterThan(5);
    const state = join(project.folder, "state");
    const local = project.run("deploy", "--env", "staging", "--local", "--persist-to", state);
    expect(local.stdout).toMatch(/\d{4}_\w+\.sql/);
    expect(local.status).toBe(0);
    expect(existsSync(state)).toBe(true);
  });

  it.each([["deploy", "--local"], ["restore", "--resume"], ["serve"]])(
    "does not fall back to the first one if it is missing: %s",
    (command, ...flags) => {
      expect(aProject().run(command, "--env", "staging", ...flags)).toMatchObject({
        status: 1,
        stdout: "",
        stderr: "wrangler.toml has no environment staging\n",
      });
    },
  );
});
