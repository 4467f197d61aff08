import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import ts from "typescript";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runNpm } from "../e2e/support/dev_server.ts";
import { PROGRAM } from "./support/client_requests.ts";
import { compile, untyped } from "./support/compile.ts";
import { documentOf, operationsOf } from "./support/documents.ts";
import { everyType, packageIn } from "./support/every_type.ts";

const SOURCE = "dist/client/external";

describe("The client package, packed and installed in an empty folder,", () => {
  let folder: string;
  let tarball: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "package-"));
    await runNpm(["pack", resolve(SOURCE), "--pack-destination", folder], folder);
    tarball = join(folder, readdirSync(folder)[0] ?? "");
    await runNpm(["install", tarball, "--prefix", folder, "--offline", "--no-audit", "--no-fund"], folder);
    return () => rmSync(folder, { recursive: true });
  });

  const installed = (...path: string[]) =>
    join(folder, "node_modules", "organization-video-visit-client", ...path);

  it("has no dependencies, and includes its changelog and README", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "organization-video-visit-client",
    ]);
    const manifest = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(manifest).toMatchObject({ version, type: "module", sideEffects: false });
    expect(manifest).not.toHaveProperty("dependencies");
    expect(readFileSync(installed("CHANGELOG.md"), "utf8")).toMatch(
      new RegExp(`^# Changelog\n\n## ${version.replaceAll(".", "\\.")}\n`),
    );
    expect(readFileSync(installed("README.md"), "utf8")).toMatch(/^# organization-video-visit-client\n/);
  });

  it("imports only its own files, and modules of Node to check what it reads", () => {
    const files = readdirSync(installed(), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => /\.(js|ts)$/.test(name))) {
      const specifiers = readFileSync(installed(file), "utf8").matchAll(
        /^(?:(?:import|export)\b.* from |.*\brequire\()"(.*?)"/gm,
      );
      const imported = [...specifiers].map(([, each = ""]) => each);
      const isOwn = (specifier: string) => /^\.\/[\w.]+\.js$/.test(specifier);
      const mayUseNode = /access_log|cli|export/.test(file);
      const isForeign = (each: string) => !isOwn(each) && !(mayUseNode && each.startsWith("node:"));
      expect(imported.filter(isForeign), file).toEqual([]);
      const extension = file.endsWith(".d.ts") ? ".d.ts" : ".js";
      for (const each of imported.filter(isOwn))
        expect(readdirSync(dirname(installed(file))), file).toContain(
          each.slice("./".length).replace(/\.js$/, extension),
        );
    }
  });

  it("is small, and passes publint and attw: every module resolution finds its types", async () => {
    expect(statSync(tarball).size).toBeLessThan(76 * 1024);
    const { messages } = await publint({ pkgDir: installed(), strict: true, pack: false });
    expect(messages).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    expect(analysis).toMatchObject({ types: { kind: "included" }, problems: [] });
  });

  const { ModuleResolutionKind, ModuleKind } = ts;
  it.each([
    ["bundler", { moduleResolution: ModuleResolutionKind.Bundler, module: ModuleKind.ESNext }],
    ["node10", { moduleResolution: ModuleResolutionKind.Node10, module: ModuleKind.ESNext }],
    ["node16", { moduleResolution: ModuleResolutionKind.Node16, module: ModuleKind.Node16 }],
  ])("compiles in strict mode with the module resolution %s", (_, options) => {
    expect(compile(PROGRAM, options, join(folder, "program.mts")).problems).toEqual([]);
  });

  it("compiles with the types of Node or of Workers, without the types of a browser", () => {
    const lib = ["lib.es2022.d.ts"];
    const typeRoots = [resolve("node_modules/@types"), resolve("node_modules/@cloudflare")];
    for (const types of [["node"], ["workers-types"]])
      expect(compile(PROGRAM, { lib, typeRoots, types }, join(folder, "program.mts")).problems).toEqual([]);
  });
});

describe("The client package", () => {
  const globals = globalThis as { window?: object; document?: object };
  it("has exactly the operations of the document", async () => {
    const { createClient } = await import("../../dist/client/external/index.js");
    const client = createClient({ baseUrl: "https://visits.test", clientId: "id", clientSecret: "secret" });
    const { webhooks: _, ...document } = documentOf("external");
    const more = ["followEvents", "eraseParticipant", "exportParticipant", "withActingUser"];
    const operations = operationsOf(document).map(({ operationId }) => operationId);
    expect(Object.keys(client).sort()).toEqual([...operations, ...more].sort());
  });

  it("knows the type of each part of each operation", () => {
    const client = packageIn("./dist/client/external");
    const compiled = compile(everyType(documentOf("external"), client));
    expect(compiled.problems).toEqual([]);
    // The lines of `exportParticipant` have types.
    expect(untyped(compiled)).toEqual([
      expect.stringMatching(/^exportParticipations\.200\.__@asyncIterator/),
    ]);
  });

  it("takes dates where the service takes timestamps, and lets statuses grow", () => {
    const program = (status: string) => `
      import { createClient } from "./dist/client/external/index.js";
      const visits = createClient({ baseUrl: "https://visits.test", clientId: "id", clientSecret: "secret" });
      const visit = { waiting_room_slug: "a--b", starts_at: new Date(), participants: [] };
      export const { status } = await visits.createVisit({ visit });
      if (status === "postponed") await visits.listVisits({ status: ${JSON.stringify(status)} });
    `;
    expect(compile(program("missed")).problems).toEqual([]);
    expect(compile(program("postponed")).problems).toHaveLength(1);
  });

  it("refuses to run in a browser's window", async () => {
    const { createClient } = await import("../../dist/client/external/index.js");
    onTestFinished(() => {
      delete globals.window;
      delete globals.document;
    });
    Object.assign(globals, { window: globalThis, document: {} });
    const settings = { baseUrl: "https://visits.test", clientId: "id", clientSecret: "secret" };
    expect(() => createClient(settings)).toThrow("A client secret must not get into a browser");
  });
});
