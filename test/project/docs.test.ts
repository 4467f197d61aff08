import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { slugOf } from "../../src/reference/site/assets/words.js";
import { commandsInDocs, DOCS, pages, pagesOfOperators, withoutCode } from "./support/docs.ts";

const headingsOf = (file: string) =>
  [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    slugOf(heading.replaceAll("`", "")),
  );

describe("README.md and src/docs", () => {
  it("link only to files and headings that exist", () => {
    const broken = [...pages].flatMap(([file, text]) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].flatMap(([link, path = "", hash]) => {
        const target = path === "" ? file : join(dirname(file), path);
        if (!existsSync(target)) return [`${file}: ${link}`];
        return hash === undefined || headingsOf(target).includes(hash) ? [] : [`${file}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("are linked in the README, which is short", () => {
    const readme = pages.get("README.md") ?? "";
    expect(readme.split("\n").length).toBeLessThanOrEqual(150);
    for (const file of pagesOfOperators()) expect(readme).toContain(`(${DOCS}/${file})`);
  });

  it("list each setting once, and no other", () => {
    const text = pages.get(`${DOCS}/settings.md`) ?? "";
    const named = [...text.matchAll(/^\| (`[A-Z_0-9]+`(?:, `[A-Z_0-9]+`)*) \|/gm)].flatMap(([, names = ""]) =>
      names.split(", ").map((name) => name.replaceAll("`", "")),
    );
    const ofTheBuild = ["CONTACT"];
    const source = readFileSync("src/settings.ts", "utf8");
    const known = [...source.matchAll(/^ {4}([A-Z][A-Z_0-9]+): /gm)].map(([, name = ""]) => name);
    expect(known.length).toBeGreaterThan(20);
    expect(named.sort()).toEqual([...known, ...ofTheBuild].sort());
  });

  it("name only npm commands that exist", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const named = commandsInDocs.flatMap((each) => /\bnpm run (?:--silent )?([\w:-]+)/.exec(each)?.[1] ?? []);
    expect(new Set(named).size).toBeGreaterThan(10);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
