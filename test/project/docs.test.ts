import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { slugOf } from "../../src/reference/site/assets/words.js";

const DOCS = "src/docs";

/** What operators and developers read, by the paths of the files. */
const pages = new Map(
  [
    "README.md",
    "src/README.md",
    "test/bench/README.md",
    ...readdirSync(DOCS).map((file) => `${DOCS}/${file}`),
  ].map((file) => [file, readFileSync(file, "utf8")]),
);

const withoutCode = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, "");

const headingsOf = (file: string) =>
  [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    slugOf(heading.replaceAll("`", "")),
  );

/** Every command of a page, as it stands in a block or in the text, without the comment after it. */
function* commandsIn(text: string): Generator<string> {
  for (const [, block = ""] of text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm))
    for (const line of block.split("\n")) yield* line.replace(/ {2,}#.*/, "").split(/ && | \|/);
  for (const [, code = ""] of withoutCode(text).matchAll(/`([^`\n]+)`/g)) yield code;
}

const commands = [...pages.values()]
  .flatMap((text) => [...commandsIn(text)])
  .map((command) => command.trim());

const flagsIn = (command: string) =>
  [...command.matchAll(/ (--[a-z][\w-]*)/g)].map(([, flag = ""]) => flag).filter((flag) => flag !== "--help");

describe("README.md and src/docs", () => {
  it("link only to what is there", () => {
    const broken = [...pages].flatMap(([file, text]) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].flatMap(([link, path = "", hash]) => {
        const target = path === "" ? file : join(dirname(file), path);
        if (!existsSync(target)) return [`${file}: ${link}`];
        return hash === undefined || headingsOf(target).includes(hash) ? [] : [`${file}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("are named in the README, which is short", () => {
    const readme = pages.get("README.md") ?? "";
    expect(readme.split("\n").length).toBeLessThanOrEqual(150);
    for (const file of readdirSync(DOCS)) expect(readme).toContain(`(${DOCS}/${file})`);
  });

  it("tell each setting once, and no other", () => {
    const text = pages.get(`${DOCS}/settings.md`) ?? "";
    const named = [...text.matchAll(/^\| (`[A-Z_0-9]+`(?:, `[A-Z_0-9]+`)*) \|/gm)].flatMap(([, names = ""]) =>
      names.split(", ").map((name) => name.replaceAll("`", "")),
    );
    const ofTheBuild = ["PUBLIC_URL", "CONTACT"];
    const source = readFileSync("src/settings.ts", "utf8");
    const known = [...source.matchAll(/^ {4}([A-Z][A-Z_0-9]+): /gm)].map(([, name = ""]) => name);
    expect(known.length).toBeGreaterThan(20);
    expect(named.sort()).toEqual([...known, ...ofTheBuild].sort());
  });

  it("name only commands and flags of npm that there are", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const used = new Map<string, Set<string>>();
    for (const command of commands) {
      const [, name = ""] = /\bnpm run (?:--silent )?([\w:-]+)/.exec(command) ?? [];
      if (!name) continue;
      expect(Object.keys(scripts), command).toContain(name);
      const [, given = ""] = command.split(" -- ");
      used.set(name, new Set([...(used.get(name) ?? []), ...flagsIn(` ${given}`)]));
    }
    expect(used.size).toBeGreaterThan(10);
    for (const [name, flags] of used) {
      const file = /node (src\/dev\/\w+\.ts)/.exec(scripts[name])?.[1];
      if (!file || flags.size === 0) continue;
      const { stdout } = spawnSync(process.execPath, [file, "--help"], { encoding: "utf8" });
      for (const flag of flags) expect(stdout, `npm run ${name}`).toContain(flag);
    }
  });

  it("name only commands and flags of wrangler that there are", () => {
    const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
    const script = join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.wrangler);
    const used = new Map<string, Set<string>>();
    for (const command of commands) {
      const [, words = ""] = /^npx wrangler ((?:[a-z0-9-]+ ?)+)/.exec(command) ?? [];
      // Names come after the words of a command, which has at most three.
      const known = WRANGLER.find((each) => `${words} `.startsWith(`${each} `));
      if (words) expect(known, command).toBeDefined();
      if (known) used.set(known, new Set([...(used.get(known) ?? []), ...flagsIn(command)]));
    }
    for (const [known, flags] of used) {
      const args = [script, ...known.split(" "), "--help"];
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
      expect(status, known).toBe(0);
      expect(stdout, known).toContain(`wrangler ${known}`);
      for (const flag of flags) expect(stdout, known).toContain(flag);
    }
  });
});

/** Those of wrangler that the pages may name. */
const WRANGLER = [
  "d1 create",
  "d1 insights",
  "d1 time-travel restore",
  "dev",
  "login",
  "queues create",
  "queues pause-delivery",
  "queues resume-delivery",
  "r2 bucket create",
  "r2 bucket lock add",
  "r2 object get",
  "rollback",
  "secret delete",
  "secret put",
  "triggers deploy",
  "whoami",
];
