import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { compile } from "../project/support/compile.ts";
import { printsOf } from "../support/prints.ts";
import { platformCaller } from "./support/callers.ts";
import { DEMO_ENV, makeProgramFolder } from "./support/guide.ts";
import { registerIssuer } from "./support/sign_in.ts";

const server = inject("sharedServer");

const SOURCE = readFileSync(join(import.meta.dirname, "clinic/program.ts"), "utf8");

/** The module formats in which a clinic may run the program. */
const FORMS = {
  mts: { script: "program.mjs", module: ts.ModuleKind.ESNext },
  cts: { script: "program.cjs", module: ts.ModuleKind.CommonJS },
} as const;

let folder: string;
let identityProvider: Awaited<ReturnType<typeof startIdentityProvider>>;
let room: string;

beforeAll(async () => {
  folder = makeProgramFolder();
  identityProvider = await startIdentityProvider();
  const platform = platformCaller(server.url);
  const { body } = await platform("GET", "/organizations");
  const { id, slug } = body.organizations.find((each: { slug: string }) => each.slug === "demo-clinic");
  await registerIssuer(platform, `/organizations/${id}`, identityProvider);
  room = `${slug}--pascal-provider`;
  await platform("PUT", `/waiting_rooms/${room}/participants/clinic-1`, {
    participant: {
      display_name: "Rita Recipient",
      role: "recipient",
      waiting_since: new Date().toISOString(),
    },
  });
  await fetch(`${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`);
});

afterAll(async () => {
  await identityProvider?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(FORMS))("The program of a clinic, as .%s,", (extension, { script, module }) => {
  it("compiles in the strictest mode", () => {
    const options = {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      verbatimModuleSyntax: extension === "mts",
      lib: ["lib.es2022.d.ts"],
      types: ["node"],
      typeRoots: [resolve("node_modules/@types")],
      skipLibCheck: false,
    };
    expect(compile(SOURCE, options, join(folder, `program.${extension}`)).problems).toEqual([]);
  });

  it("completes all its steps in its first run", async () => {
    const compilerOptions = { module, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
    writeFileSync(join(folder, script), ts.transpileModule(SOURCE, { compilerOptions }).outputText);
    const TOKEN = await identityProvider.signIn("pascal@demo-clinic.example");
    const env = { ...process.env, VISITS_URL: server.url, ...DEMO_ENV, TOKEN, ROOM: room };
    const child = spawn(process.execPath, [script], { cwd: folder, env });
    const { code, stdout, stderr } = await printsOf(child).ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      room: expect.stringMatching(/^demo-clinic--dermatology(-\d+)?$/),
      personal: "Pascal Provider",
      sub: true,
      invited: { created: 1, failed: 1 },
      code: 43,
      waiting: "Rita Recipient",
      yesterday: expect.arrayContaining([
        {
          call_id: expect.any(Number),
          summary: expect.stringMatching(/blood pressure/),
          lines: 2,
          cues: 2,
          note: expect.stringMatching(/^Subjective/),
          bytes: expect.any(Number),
        },
      ]),
      event: "waiting_room_sub.changed true",
      webhook: "ping",
      audit: {
        seen: expect.arrayContaining(["read egress", "read soap_note", "read transcript"]),
        sealed: true,
        warnings: expect.any(Number),
      },
    });
  });
});
