import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path/posix";
import { describe, expect, it } from "vitest";
import { INCLUDED } from "../../src/reference/client_package.ts";

/**
 * The floors of the house, from the ground up. A file imports only from its own floor and the floors below. The ground
 * floor has the folders that belong to no resource, the files beside the folders, and all tables, because a query may join
 * the tables of any floor.
 */
const FLOORS = [
  ["", "bytes", "database", "directory", "http", "mail", "openapi", "queues"],
  ["audit"],
  ["organization"],
  ["delivery"],
  ["rooms"],
  ["calls"],
  ["results"],
  ["handover"],
  ["livekit"],
  ["joining"],
  ["app.ts", "cron.ts", "index.ts"],
  ["client"],
  ["reference"],
  ["dev"],
];

interface Import {
  from: string;
  to: string;
  /** Whether it imports only types, which are not in the compiled program. */
  isOnlyOfTypes: boolean;
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
  .sort();

/** Every import of one file of src by another, including imports of types. JSON files import nothing. */
const imports: Import[] = files.flatMap((from) => {
  const source = readFileSync(join("src", from), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const specifiers = source.matchAll(
    /((?:import|export) type [^;]*?)?(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.[^"$]+(?<!\.json))"/g,
  );
  return [...specifiers].map(([, onlyTypes, specifier = ""]) => ({
    from,
    to: relative("src", join("src", dirname(from), specifier)),
    isOnlyOfTypes: onlyTypes !== undefined,
  }));
});

function floorOf(file: string): number {
  if (file.endsWith(".table.ts")) return 0;
  const [first = "", ...rest] = file.split("/");
  const own = FLOORS.findIndex((names) => names.includes(first));
  return own < 0 && rest.length === 0 ? 0 : own;
}

/** The last part of the name of a resource's file, such as `service`. */
const roleOf = (file: string) => basename(file, ".ts").split(".").slice(1).join(".");

const isMade = (file: string) => file.startsWith("../dist/client/");

const say = ({ from, to }: Import) => `${from} imports ${to}`;

describe("The files in src", () => {
  it("import only from their own floor and the floors below", () => {
    const unknown = files.filter((file) => floorOf(file) < 0);
    expect(unknown, "Give the folder a floor").toEqual([]);
    expect(imports.length).toBeGreaterThan(files.length);
    const up = imports.filter(({ from, to }) => !isMade(to) && floorOf(to) > floorOf(from));
    expect(up.map(say)).toEqual([]);
  });

  it("are short", () => {
    const isLong = (file: string) => readFileSync(file, "utf8").split("\n").length > 301;
    const all = readdirSync("src", { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const paths = all
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !/\.png$|WRITES\.md$|dashboard\.json$/.test(file));
    expect(paths.filter(isLong)).toEqual([]);
  });

  it("have no two functions of the same name in the Worker", () => {
    const FUNCTION =
      /^(?:export )?(?:(?:async )?function\*? |const (?=\w+ = (?:async )?(?:[(<]|preparedQuery\b)))(\w+)/gm;
    const functions = files
      .filter((file) => !/^(client|dev|reference)\//.test(file))
      .flatMap((file) => [
        ...new Set([...readFileSync(join("src", file), "utf8").matchAll(FUNCTION)].map(([, name]) => name)),
      ]);
    expect(functions.length).toBeGreaterThan(files.length);
    expect(functions.filter((name, n) => functions.indexOf(name) !== n)).toEqual([]);
  });

  it("keep the shapes of responses and the texts of the reference out of the Worker's bundle", () => {
    const isReference = (file: string) =>
      /^(responses|openapi)$/.test(roleOf(file) ?? "") || isOfReference(file);
    // The story has only constants, and the bundle includes only those that it uses.
    const isOfReference = (file: string) =>
      file !== "openapi/story.ts" && /^(openapi|reference|dev)\/|\.openapi\.ts$/.test(file);
    const offenders = imports.filter(
      ({ from, to, isOnlyOfTypes }) => isReference(to) && !isReference(from) && !isOnlyOfTypes,
    );
    expect(imports.some(({ from, to }) => isReference(to) && !isReference(from))).toBe(true);
    expect(offenders.map(say)).toEqual([]);
  });

  it("of the client package import only each other, and only commands and the build import its own", () => {
    const isOwn = (file: string) => file.startsWith("client/") || isMade(file);
    const isOfPackage = (file: string) => isOwn(file) || INCLUDED.includes(file);
    const offenders = imports.filter(({ from, to }) =>
      isOfPackage(from) ? !isOfPackage(to) : isOwn(to) && !/^(reference|dev)\//.test(from),
    );
    expect(imports.some(({ to }) => isMade(to))).toBe(true);
    expect(offenders.map(say)).toEqual([]);
  });

  it("have no circular imports, and of types only within a folder", () => {
    expect(cycles()).toEqual([]);
  });
});

/** The imports between files that reach themselves. */
function cycles(): string[] {
  let left = imports.filter(({ from, to, isOnlyOfTypes }) => !isOnlyOfTypes || dirname(from) !== dirname(to));
  for (let before = 0; before !== left.length; ) {
    before = left.length;
    const importing = new Set(left.map(({ from }) => from));
    const imported = new Set(left.map(({ to }) => to));
    left = left.filter(({ from, to }) => importing.has(to) && imported.has(from));
  }
  return left.map(say);
}

it("Only `npm run dev` can serve the web app: no deployed file imports it", () => {
  const importers = imports.filter(
    ({ to, from }) => to.startsWith("dev/web_app/") && !from.startsWith("dev/web_app/"),
  );
  expect(importers.map(({ from }) => from)).toEqual(["dev/serve.ts"]);
});
