import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { firstSentence, operationsSource } from "./client_operations.ts";
import { guideFiles, guideOf } from "./guides.ts";
import { guideValues } from "./info.ts";
import { generateTypes } from "./sdk.ts";
import type { Document } from "./site/openapi.ts";

/** What people write by hand of the package. */
const SOURCE = join(import.meta.dirname, "..", "client");

/** Where the sources find what is made: in the package it is beside them. */
const MADE = "../../dist/client/external/";

export const PACKAGE_NAME = "organization-video-visit-client";

const COMPILER: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  removeComments: true,
};

const DECLARATIONS: ts.CompilerOptions = {
  ...COMPILER,
  removeComments: false,
  declaration: true,
  isolatedDeclarations: true,
};

/** The files of the client package, by their names. */
export async function clientPackage(openapi: object): Promise<Map<string, string>> {
  const document = openapi as Document;
  const types = await generateTypes(document);
  const files = new Map([
    ["package.json", `${JSON.stringify(manifest(), null, 2)}\n`],
    ["README.md", readme()],
    ["CHANGELOG.md", changelog()],
  ]);
  const sources = new Map([["operations.gen.ts", operationsSource(document)]]);
  for (const file of readdirSync(SOURCE)) sources.set(file, readFileSync(join(SOURCE, file), "utf8"));
  const made = new Map([
    // It has nothing but types.
    [
      "types.gen.d.ts",
      withEvents(withNumbers(onlyUsed(declarations("types.gen.ts", inShort(withoutErrors(types)))))),
    ],
  ]);
  for (const [file, source] of sources) made.set(file.replace(/\.ts$/, ".d.ts"), declarations(file, source));
  const needed = new Set(ENTRIES.flatMap((entry) => [...neededBy(`${entry}.d.ts`, made)]));
  for (const file of needed) {
    files.set(file, made.get(file) ?? "");
    files.set(`${COMMON_JS}/${file}`, made.get(file) ?? "");
  }
  for (const [file, source] of sources) {
    const script = file.replace(/\.ts$/, ".js");
    files.set(script, compiled(file, source, ts.ModuleKind.ESNext));
    if (file !== "cli.ts")
      files.set(`${COMMON_JS}/${script}`, compiled(file, source, ts.ModuleKind.CommonJS));
  }
  files.set(`${COMMON_JS}/package.json`, `${JSON.stringify({ type: "commonjs" })}\n`);
  return files;
}

/** What programs import. */
const ENTRIES = ["index", "access_log"];

/** The folder with the same for `require`. */
const COMMON_JS = "cjs";

/** The declarations that one imports, and those that they import: the others say what is only used inside. */
function neededBy(file: string, files: Map<string, string>, needed = new Set<string>()): Set<string> {
  if (needed.has(file)) return needed;
  needed.add(file);
  for (const [, imported] of (files.get(file) ?? "").matchAll(/ from "\.\/(.*)\.js"/g))
    neededBy(`${imported}.d.ts`, files, needed);
  return needed;
}

/** The guide to the package, whose examples a test runs. */
const readme = (): string => guideAlone("02_client_package.md").replace(/^# .*/, `# ${PACKAGE_NAME}`);

/** That of the service, without what is of no interest to organizations. */
const changelog = (): string =>
  guideAlone("changelog.md").replace(/^- (Platform API|LiveKit|Operator)\b.*\n/gm, "");

/** A guide without its links to the others. */
function guideAlone(name: string): string {
  const file = guideFiles("external").find((each) => basename(each) === name);
  if (!file) throw new Error(`There is no guide ${name}`);
  return `${guideOf("external", file, guideValues()).replace(/\[([^\]]*)\]\([^):]*\)/g, "$1")}\n`;
}

function manifest() {
  const { version, license } = JSON.parse(readFileSync("package.json", "utf8"));
  return {
    name: PACKAGE_NAME,
    version,
    description: "A client of the Organization Video Visit Service.",
    license,
    type: "module",
    main: `./${COMMON_JS}/index.js`,
    module: "./index.js",
    types: "./index.d.ts",
    // For those who find modules as Node 10 did.
    typesVersions: { "*": { "access-log": ["./access_log.d.ts"] } },
    exports: {
      ".": entry("index"),
      "./access-log": entry("access_log"),
      "./package.json": "./package.json",
    },
    bin: { [PACKAGE_NAME]: "./cli.js" },
    engines: { node: ">=20" },
    sideEffects: false,
  };
}

/** Each of the two has types of its own: those of ESM are no types of CommonJS. */
const entry = (name: string) => ({
  import: { types: `./${name}.d.ts`, default: `./${name}.js` },
  require: { types: `./${COMMON_JS}/${name}.d.ts`, default: `./${COMMON_JS}/${name}.js` },
});

const inShort = (types: string) =>
  types.replace(/\/\*\*\n([\s\S]*?)\*\//g, (_, lines: string) => {
    const text = lines.replace(/^ *\* ?/gm, "").trim();
    return `/** ${firstSentence(text)} */`;
  });

/** The types without those of errors, which are one class here, and of headers, which are options: a third of it all. */
const withoutErrors = (types: string) =>
  types
    .replace(/export type \w+(?:Errors = \{[\s\S]*?\n\}|Error = [^;]*);\n+/g, "")
    .replace(/\n {4}headers\?: \{[\s\S]*?\n {4}\};/g, "");

/** The types of what is sent and received, without what the generator's own client needs to know of it. */
const onlyUsed = (types: string) =>
  types
    .replace(/^(?:\/\*\* .*\n)?export type (?:ClientOptions|ErrorResponse) = \{[\s\S]*?\n\};\n/gm, "")
    .replace(/^ {4}(?:(?:url|key): '.*'|(?:body|path|query)\?: never);\n/gm, "")
    .replace(/^ *\/\*\* (?:JSON|Success|Created|Accepted)\. \*\/\n/gm, "")
    // An operation has one status of success, so its responses are one type.
    .replace(
      /^export type (\w+)Responses = \{\n(?: {4}\/\*\*.*\n)? {4}\d+: (.*|\{[\s\S]*?\n {4}\});\n\};\nexport type \1Response = .*;\n/gm,
      (_, name: string, body: string) =>
        body === "void" ? "" : `export type ${name}Response = ${body.replace(/^ {4}/gm, "")};\n`,
    )
    .replace(/^export type \w+WebhookRequest = \{\n {4}body: \w+;\n\};\n/gm, "")
    .replace(/(?<=\w)WebhookRequest\b/g, "WebhookPayload");

/** The contract has the `user_id` of call metrics as a text. */
const withNumbers = (types: string) => types.replace(/\b(\w+_id\?): string(?=;)/g, "$1: number");

/** Events are the same union of types as webhooks: a list says `created_at` where a webhook has its `timestamp`. */
const withEvents = (types: string) =>
  `${types.replace("events: Array<Event>", "events: Array<VisitEvent>").replace(/^\/\*\* .*\nexport type Event(?:Data)? = \{[\s\S]*?\n\};\n/gm, "")}
/** Something that happened. A later version of the service may have other types too: ignore those. */
export type VisitEvent = EventOf<Exclude<Webhooks, OnPingWebhookPayload>>;
type EventOf<Webhook> = Webhook extends {
    timestamp: string;
} ? Omit<Webhook, "timestamp"> & {
    /** When the service recorded it. */
    created_at: string;
} : never;
`;

const compiled = (fileName: string, source: string, module: ts.ModuleKind): string =>
  outputOf(
    fileName,
    ts.transpileModule(inPackage(source), {
      fileName,
      compilerOptions: { ...COMPILER, module, verbatimModuleSyntax: module === ts.ModuleKind.ESNext },
      reportDiagnostics: true,
    }),
  );

const declarations = (fileName: string, source: string): string =>
  outputOf(
    fileName,
    ts.transpileDeclaration(inPackage(source), {
      fileName,
      compilerOptions: DECLARATIONS,
      reportDiagnostics: true,
    }),
  );

/** @throws Error for a source that is wrong, or does not name the types that it exports */
function outputOf(fileName: string, { outputText, diagnostics = [] }: ts.TranspileOutput): string {
  const [problem] = diagnostics;
  if (problem) throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`);
  return outputText;
}

/** The source, as it imports the other files in the package. */
const inPackage = (source: string) =>
  source.replaceAll(`"${MADE}`, '"./').replace(/(from "\.\/[^"]+)\.ts"/g, '$1.js"');
