import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { commandsInDocs, flagsIn } from "./support/docs.ts";

/** The commands of wrangler that the pages may name. */
const WRANGLER = [
  "d1 create",
  "d1 execute",
  "d1 info",
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
  "secret bulk",
  "secret delete",
  "secret put",
  "triggers deploy",
  "versions list",
  "whoami",
];

it("README.md and src/docs name only commands and flags of wrangler that exist", () => {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  const script = join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.wrangler);
  const used = new Map<string, Set<string>>();
  for (const command of commandsInDocs) {
    const [, words = ""] = /^npx wrangler ((?:[a-z0-9-]+ ?)+)/.exec(command) ?? [];
    // A command has at most three words. Names may follow them.
    const known = WRANGLER.find((each) => `${words} `.startsWith(`${each} `));
    if (words) expect(known, command).toBeDefined();
    if (known) used.set(known, new Set([...(used.get(known) ?? []), ...flagsIn(command)]));
  }
  // A command without flags is looked up in the help of its group, because starting wrangler takes seconds.
  const helps = Map.groupBy(used.keys(), (known) =>
    used.get(known)?.size ? known : known.replace(/ ?[a-z-]+$/, ""),
  );
  for (const [asked, commands] of helps) {
    const args = [script, ...asked.split(" ").filter(Boolean), "--help"];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(status, asked).toBe(0);
    for (const known of commands) {
      expect(stdout, known).toMatch(new RegExp(`^ *wrangler ${known}\\b`, "m"));
      for (const flag of used.get(known) ?? []) expect(stdout, known).toContain(flag);
    }
  }
});
