import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Package {
  version: string;
  optionalDependencies?: Record<string, string>;
}

/** Native programs, with a package for each platform. */
const PROGRAMS = ["workerd", "esbuild", "@biomejs/biome", "rolldown", "lightningcss", "typescript-7"];

const REPAIR =
  "npm silently leaves out what the registry did not have. Delete node_modules and package-lock.json, run " +
  "`npm install --package-lock-only --ignore-scripts`, and pin a version in package.json that has all platforms.";

const packages: Record<string, Package> = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;

const nameOf = (path: string) => path.split("node_modules/").at(-1) ?? "";

const programs = Object.keys(packages).filter((path) => PROGRAMS.includes(nameOf(path)));

/** The package that the package at `path` gets when it imports `name`: the nearest one. */
function nearest(path: string, name: string): Package | undefined {
  const found = packages[`${path ? `${path}/` : ""}node_modules/${name}`];
  if (found || path === "") return found;
  return nearest(path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/"))), name);
}

describe("package-lock.json", () => {
  it("has every native program that the tools run", () => {
    expect(new Set(programs.map(nameOf))).toEqual(new Set(PROGRAMS));
  });

  it("has every optional package that its packages name: that of each platform, in the version of the program", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.entries(optionalDependencies)
        .filter(([name, version]) => {
          const { version: found } = nearest(path, name) ?? {};
          return programs.includes(path) ? found !== version : !found;
        })
        .map(([name]) => `${name} of ${path}`),
    );
    expect(missing, REPAIR).toEqual([]);
  });
});
