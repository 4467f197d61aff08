import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("The README says why each dependency is needed, and names no other package", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const [, table = ""] = readFileSync("README.md", "utf8").split("\n## Dependencies\n");
  const named = [...table.matchAll(/^\| (.*?) \| .+ \|$/gm)]
    .slice(1)
    .flatMap(([, names = ""]) => names.replace(/\(.*?\)/g, "").split(", "))
    .map((name) => name.trim());
  expect(named.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});
