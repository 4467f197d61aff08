import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { EGRESS_DELETED, EGRESS_STATUSES } from "../database/enums.ts";
import { firstSentence, operationsSource } from "./client_operations.ts";
import { guideFiles, guideOf } from "./guides.ts";
import { guideValues } from "./info.ts";
import { generateTypes } from "./sdk.ts";
import type { Document } from "./site/openapi.ts";

const SOURCE = join(import.meta.dirname, "..", "client");

/** Files of the service that the package includes. They import only each other. */
export const INCLUDED: string[] = [
  "bytes/base64.ts",
  "delivery/webhook_deliveries/webhook_deliveries.format.ts",
];

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

export async function clientPackage(openapi: object): Promise<Map<string, string>> {
  const document = openapi as Document;
  const types = await generateTypes(document);
  const files = new Map([
    ["package.json", `${JSON.stringify(manifest(), null, 2)}\n`],
    ["README.md", readme()],
    ["CHANGELOG.md", changelog()],
  ]);
  const sources = new Map([["operations.gen.ts", operationsSource(document)]]);
  const paths = [...readdirSync(SOURCE), ...INCLUDED.map((file) => join("..", file))];
  for (const path of paths) sources.set(basename(path), readFileSync(join(SOURCE, path), "utf8"));
  const made = new Map([
    // This file has only types, so it needs no script.
    [
      "types.gen.d.ts",
      withEvents(
        withWiderTypes(withNumbers(onlyUsed(declarations("types.gen.ts", inShort(withoutErrors(types)))))),
      ),
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
    // Nothing can import the commands.
    if (!/^cli[._]/.test(file))
      files.set(`${COMMON_JS}/${script}`, compiled(file, source, ts.ModuleKind.CommonJS));
  }
  files.set(`${COMMON_JS}/package.json`, `${JSON.stringify({ type: "commonjs" })}\n`);
  return files;
}

const ENTRIES = ["index", "access_log"];

/** The folder with the CommonJS build, for `require`. */
const COMMON_JS = "cjs";

/** The declaration files that a file imports, directly or not. All others are internal. */
function neededBy(file: string, files: Map<string, string>, needed = new Set<string>()): Set<string> {
  if (needed.has(file)) return needed;
  needed.add(file);
  for (const [, imported] of (files.get(file) ?? "").matchAll(/ from "\.\/(.*)\.js"/g))
    neededBy(`${imported}.d.ts`, files, needed);
  return needed;
}

/** The package's README is its guide, whose examples a test runs. */
const readme = (): string => guideAlone("02_client_package.md").replace(/^# .*/, `# ${PACKAGE_NAME}`);

/** The service's changelog, without the lines that do not concern organizations. */
const changelog = (): string =>
  guideAlone("changelog.md").replace(/^- (Platform API|LiveKit|Operator)\b.*\n/gm, "");

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
    // For TypeScript's `moduleResolution: node10`, which ignores `exports`.
    typesVersions: { "*": { "access-log": ["./access_log.d.ts"] } },
    exports: { ".": entry("index"), "./access-log": entry("access_log"), "./package.json": "./package.json" },
    bin: { [PACKAGE_NAME]: "./cli.js" },
    engines: { node: ">=20" },
    sideEffects: false,
  };
}

/** ESM and CommonJS each need their own copy of the types. */
const entry = (name: string) => ({
  import: { types: `./${name}.d.ts`, default: `./${name}.js` },
  require: { types: `./${COMMON_JS}/${name}.d.ts`, default: `./${COMMON_JS}/${name}.js` },
});

const inShort = (types: string) =>
  types.replace(/\/\*\*\n([\s\S]*?)\*\//g, (_, lines: string) => {
    const text = lines.replace(/^ *\* ?/gm, "").trim();
    return `/** ${firstSentence(text)} */`;
  });

/** Removes the types of errors, which are one class in the package, and of headers, which are options: a third of all types. */
const withoutErrors = (types: string) =>
  types
    .replace(/export type \w+(?:Errors = \{[\s\S]*?\n\}|Error = [^;]*);\n+/g, "")
    .replace(/\n {4}headers\?: \{[\s\S]*?\n {4}\};/g, "");

/** Keeps the types of requests and responses, and removes those that only the generator's own client needs. */
const onlyUsed = (types: string) =>
  types
    .replace(/^(?:\/\*\* .*\n)?export type (?:ClientOptions|ErrorResponse) = \{[\s\S]*?\n\};\n/gm, "")
    .replace(/^ {4}(?:(?:url|key): '.*'|(?:body|path|query)\?: never);\n/gm, "")
    .replace(/^ *\/\*\* (?:JSON|Success|Created|Accepted)\. \*\/\n/gm, "")
    // An operation has only one success status, so its responses become one type.
    .replace(
      /^export type (\w+)Responses = \{\n(?: {4}\/\*\*.*\n)? {4}\d+: (.*|\{[\s\S]*?\n {4}\});\n\};\nexport type \1Response = .*;\n/gm,
      (_, name: string, body: string) =>
        body === "void" ? "" : `export type ${name}Response = ${body.replace(/^ {4}/gm, "")};\n`,
    )
    .replace(/^export type \w+WebhookRequest = \{\n {4}body: \w+;\n\};\n/gm, "")
    .replace(/(?<=\w)WebhookRequest\b/g, "WebhookPayload");

/** The contract declares the `user_id` of call metrics as a string, but programs have it as a number. */
const withNumbers = (types: string) => types.replace(/\b(\w+_id\?): string(?=;)/g, "$1: number");

const EGRESS = [...EGRESS_STATUSES, EGRESS_DELETED].map((status) => `'${status}'`).join(" | ");

/** Timestamps in requests may be dates. Statuses may get more values, except in filters, which take only known ones. */
const withWiderTypes = (types: string) =>
  types.replace(/^export type (\w+) = \{\n[\s\S]*?\n\};/gm, (block, name: string) =>
    name.endsWith("Data")
      ? block
      : block
          .replace(
            /^( +(?:\w+_)?status\??: )(string|'.*');$/gm,
            (_, start: string, known: string) =>
              `${start}${known === "string" ? EGRESS : known} | (string & {});`,
          )
          .replace(
            /\b((?:\w+_at|datetime_\w+)\??: string)\b/g,
            name.endsWith("Request") ? "$1 | Date" : "$1",
          ),
  );

/** Derives the union of event types from the webhooks. A listed event has `created_at` instead of a webhook's `timestamp`. */
const withEvents = (types: string) =>
  `${types.replace("events: Array<Event>", "events: Array<VisitEvent>").replace(/^\/\*\* .*\nexport type Event(?:Data)? = \{[\s\S]*?\n\};\n/gm, "")}
/** An event. Later versions of the service may add types: ignore the types that you do not know. */
export type VisitEvent = EventOf<Exclude<Webhooks, OnPingWebhookPayload>>;
type EventOf<Webhook> = Webhook extends {
    timestamp: string;
} ? Omit<Webhook, "timestamp" | "test"> & {
    /** When the service recorded the event. */
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

/** @throws Error for a source with errors, or with an export that lacks an explicit type */
function outputOf(fileName: string, { outputText, diagnostics = [] }: ts.TranspileOutput): string {
  const [problem] = diagnostics;
  if (problem) throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`);
  return outputText;
}

/** Rewrites the source's imports: in the package, all files are in one folder. */
const inPackage = (source: string) => source.replace(/ from "\.[^"]*\/([^"/]+)\.[jt]s"/g, ' from "./$1.js"');
