import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { configurationWith } from "../../src/dev/databases.ts";
import {
  bindDatabase,
  boundShards,
  databaseBlock,
  databaseName,
  withDatabase,
} from "../../src/dev/wrangler_config.ts";

const toml = readFileSync("wrangler.toml", "utf8").replaceAll("\r\n", "\n");

/** A file with the text. */
function aConfiguration(text: string): { config: string } {
  const folder = mkdtempSync(join(tmpdir(), "configuration-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, text);
  return { config };
}

const block = (shard: number, env?: string) => databaseBlock(env, shard, `visits-${shard}`, "drizzle");

it("The configuration as shipped binds one database", () => {
  expect(boundShards({ config: "wrangler.toml" })).toEqual([0]);
});

it("Another database comes after those that are bound, and no other line changes", () => {
  const both = withDatabase(withDatabase(toml, undefined, block(1)), undefined, block(2));
  const added = both.split("\n").filter((line) => !toml.split("\n").includes(line));
  expect(added).toEqual([
    'binding = "DB_1"',
    'database_name = "visits-1"',
    'binding = "DB_2"',
    'database_name = "visits-2"',
  ]);
  expect(both.replace(`\n${block(1)}\n${block(2)}`, "")).toBe(toml);
  const configuration = aConfiguration(both);
  expect(boundShards(configuration)).toEqual([0, 1, 2]);
  expect(databaseName(configuration, 2)).toBe("visits-2");
  expect(databaseName(configuration, 3)).toBe("organization-video-visit-service-3");
});

it("Two commands that add the same database at once bind it once", () => {
  const configuration = aConfiguration(toml);
  bindDatabase(configuration, 1, "visits-1");
  const bound = readFileSync(configuration.config, "utf8");
  bindDatabase(configuration, 1, "visits-1");
  expect(readFileSync(configuration.config, "utf8")).toBe(bound);
  expect(boundShards(configuration)).toEqual([0, 1]);
});

it("A comment above what follows stays there", () => {
  const text =
    '[[d1_databases]]\nbinding = "DB" # the first\n# About the bucket.\n[[r2_buckets]]\nbinding = "B"\n';
  expect(withDatabase(text, undefined, block(1))).toBe(
    `[[d1_databases]]\nbinding = "DB" # the first\n\n${block(1)}# About the bucket.\n[[r2_buckets]]\nbinding = "B"\n`,
  );
});

it("A database of an environment comes to those of the environment", () => {
  const text = `${toml}\n[[env.staging.d1_databases]]\nbinding = "DB"\ndatabase_name = "staging"\n`;
  const configuration = aConfiguration(withDatabase(text, "staging", block(1, "staging")));
  expect(boundShards({ ...configuration, env: "staging" })).toEqual([0, 1]);
  expect(boundShards(configuration)).toEqual([0]);
});

it.each([
  ["with spaces and a comment", "[[ d1_databases ]] # all of them", undefined],
  ["with the name of an environment in quotes", '[[env."my stage".d1_databases]]', "my stage"],
  ["with a bare name of an environment", "[[ env . stage . d1_databases ]]", "stage"],
])("A header is found that is written %s", (_, header, env) => {
  const text = `name = "x"\n${header}\nbinding = "DB"\ndatabase_name = "visits"\n`;
  const configuration = { ...aConfiguration(withDatabase(text, env, block(1, env))), env };
  expect(boundShards(configuration)).toEqual([0, 1]);
});

it("Lines that end as on Windows all end so afterwards", () => {
  const both = withDatabase(toml.replaceAll("\n", "\r\n"), undefined, block(1));
  expect(both.replaceAll("\r\n", "")).not.toContain("\n");
  expect(boundShards(aConfiguration(both))).toEqual([0, 1]);
});

it("A database whose name the configuration does not say has that of the service", () => {
  const configuration = aConfiguration(
    'name = "visits"\n[[d1_databases]]\nbinding = "DB"\ndatabase_id = "x"\n',
  );
  expect(databaseName(configuration, 1)).toBe("visits-1");
});

it.each([["none"], ['d1_databases = [{ binding = "DB" }]']])(
  "A configuration whose databases are written otherwise is not changed: %s",
  (text) => {
    expect(() => withDatabase(text, undefined, block(1))).toThrow(
      /has no line \[\[d1_databases\]\]\. Write each/,
    );
    expect(() => configurationWith({ config: "wrangler.jsonc" }, [1])).toThrow("must be a file of TOML");
  },
);
