import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bindDatabase, boundShards, databaseName, requireExtensible } from "../../src/dev/wrangler_config.ts";

const toml = readFileSync("wrangler.toml", "utf8").replaceAll("\r\n", "\n");

function aConfiguration(text: string): { config: string } {
  const folder = mkdtempSync(join(tmpdir(), "configuration-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, text);
  return { config };
}

function add(text: string, shard: number, env?: string): string {
  const configuration = { ...aConfiguration(text), env };
  bindDatabase(configuration, shard);
  return readFileSync(configuration.config, "utf8");
}

it("bindDatabase adds another database at the end, once, and changes no other line", () => {
  expect(boundShards({ config: "wrangler.toml" })).toEqual([0]);
  const both = add(add(toml, 1), 2);
  const added = both.split("\n").filter((line) => !toml.split("\n").includes(line));
  expect(added).toEqual([
    'binding = "DB_1"',
    'database_name = "organization-video-visit-service-1"',
    'binding = "DB_2"',
    'database_name = "organization-video-visit-service-2"',
  ]);
  expect(both.startsWith(toml.trimEnd())).toBe(true);
  expect(add(both, 1)).toBe(both);
  const configuration = aConfiguration(both);
  expect(boundShards(configuration)).toEqual([0, 1, 2]);
  expect(databaseName(configuration, 2)).toBe("organization-video-visit-service-2");
  expect(databaseName(configuration, 3)).toBe("organization-video-visit-service-3");
});

it.each(["staging", "my stage"])(
  "bindDatabase adds a database of the environment %s to its other databases",
  (env) => {
    const text = `${toml}\n[[env."${env}".d1_databases]]\nbinding = "DB"\ndatabase_name = "staging"\n`;
    const configuration = aConfiguration(add(text, 1, env));
    expect(boundShards({ ...configuration, env })).toEqual([0, 1]);
    expect(boundShards(configuration)).toEqual([0]);
  },
);

it("databaseName derives a missing name from the service's name", () => {
  const configuration = aConfiguration(
    'name = "visits"\n[[d1_databases]]\nbinding = "DB"\ndatabase_id = "x"\n',
  );
  expect(databaseName(configuration, 1)).toBe("visits-1");
});

it("bindDatabase and requireExtensible refuse databases in an array or in JSON", () => {
  const { config } = aConfiguration('name = "x"\nd1_databases = [{ binding = "DB" }]');
  expect(() => bindDatabase({ config }, 1)).toThrow("under a line [[d1_databases]], not in an array");
  expect(() => requireExtensible("wrangler.jsonc")).toThrow("must be a TOML file");
});
