import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import type { Api } from "../../../src/reference/apis.ts";
import { DEVELOPMENT_ASSETS } from "../../../src/reference/assets.ts";
import { DEMO_CLIENT } from "../../../src/reference/demo_client.ts";
import { guideFiles } from "../../../src/reference/guides.ts";
import { pathOfGuide } from "../../../src/reference/site/pages.ts";
import { printsOf } from "../../support/prints.ts";
import { platformToken } from "./callers.ts";

/** A request in a guide, with the documented response. */
export interface Example {
  heading: string;
  /** The variables that a reader assigns. */
  variables: string[];
  commands: string;
  program: string | undefined;
  python: string | undefined;
  /** The text that a reader pastes into a waiting command. */
  pasted: string | undefined;
  /** 0 if the example sends nothing. */
  status: number;
  header: string | undefined;
  json: unknown;
}

export const guideText = (api: Api): string =>
  guideFiles(api)
    .map((file) => readFileSync(join(DEVELOPMENT_ASSETS, `${pathOfGuide(api, file)}.md`), "utf8"))
    .join("\n");

const ASSIGNMENT = /^([A-Z_]+)=.*\n/;

/** @throws Error if the guide does not say what a request returns */
export function examplesIn(text: string): Example[] {
  const [, ...blocks] = text.split("```sh\n");
  let before = text.slice(0, text.indexOf("```sh\n"));
  return blocks.map((block) => {
    const heading = [...before.matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? "";
    before += block;
    const [shown = "", after = ""] = block
      .split(/^```\n/m, 1)
      .concat(block.slice(block.indexOf("```\n") + 4));
    const [, program, others = after] =
      /^(?:(?!Response: )[\s\S])*?```js\n([\s\S]*?)```\n([\s\S]*)/.exec(after) ?? [];
    const [, python, rest = others] =
      /^(?:(?!Response: )[\s\S])*?```python\n([\s\S]*?)```\n([\s\S]*)/.exec(others) ?? [];
    const pasted = /^(?!\s*Response: )[^`]*\n```text\n([\s\S]*?)```/.exec(after)?.[1];
    const [, status = pasted && "0", more = "", json] =
      /^\s*Response: (\d{3})(.*)\n(?:\n```json\n([\s\S]*?)```)?/.exec(rest) ?? [];
    if (!status) throw new Error(`The guide "${heading}" does not say what the response is to\n${shown}`);
    const variables: string[] = [];
    let commands = shown;
    for (let found = ASSIGNMENT.exec(commands); found; found = ASSIGNMENT.exec(commands)) {
      variables.push(found[1] ?? "");
      commands = commands.slice(found[0].length);
    }
    return {
      heading,
      variables,
      commands,
      program,
      python,
      pasted,
      status: Number(status),
      header: /`([\w-]+: .*?)`/.exec(more)?.[1],
      json: json === undefined ? undefined : JSON.parse(json),
    };
  });
}

const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;

/** Runs the commands of an example in a shell with the variables, and parses the response that curl received. */
export async function runExample(
  { commands, pasted }: Example,
  variables: Record<string, string>,
  folder: string,
) {
  if (pasted !== undefined) {
    await runShell(["-euc", commands], pasted, folder);
    return { status: 0, headers: [], json: undefined, output: commands };
  }
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}\n`);
  // Makes curl print the status at the end, and changes nothing else.
  const curl = `curl() { command curl --silent --show-error --write-out '\\n%{http_code}' "$@"; }\n`;
  const output = await runShell(["-eu"], [curl, ...assignments, commands].join(""), folder);
  const status = /\n(\d{3})$/.exec(output)?.[1] ?? "";
  const printed = output.slice(0, -status.length - 1);
  const [headers = "", body = ""] = printed.startsWith("HTTP/") ? printed.split("\r\n\r\n") : ["", printed];
  return {
    status: Number(status),
    headers: headers.split("\r\n"),
    // NDJSON has several lines.
    json: body.startsWith("{") && !body.includes("\n{") ? JSON.parse(body) : undefined,
    /** The output for a failed test. */
    output: `${commands}\n${output}`,
  };
}

/** The environment of programs of the demo organization. */
export const DEMO_ENV = { CLIENT_ID: DEMO_CLIENT.client_id, CLIENT_SECRET: DEMO_CLIENT.client_secret };

/** A folder for programs, in which they find the client package. */
export function makeProgramFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "programs-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(
    resolve("dist/client/external"),
    join(folder, "node_modules/organization-video-visit-client"),
    "junction",
  );
  return folder;
}

/** The line that creates the client in all programs of the guides. The first program begins with it. */
const CLIENT = /^import \{ createClient \}[\s\S]*?^\}\);\n/m;

/** Makes a program print values and its error as JSON. */
const REPORT = `console.log = (...values) => process.stdout.write(JSON.stringify(values) + "\\n");
process.on("uncaughtException", ({ status, text, stack }) => console.log({ status, text, stack }) || process.exit(1));
`;

/** The program of an example, with the client and with the variables from the examples before. */
export function wholeProgram(
  { program = "", variables: own }: Pick<Example, "variables"> & { program?: string | undefined },
  variables: Record<string, string>,
  server: string,
): string {
  const client = CLIENT.exec(guideText("external"))?.[0] ?? "";
  const assigned = own.map((name) => new RegExp(`^const ${name.toLowerCase()} = .*\n`, "m"));
  const withoutOwn = assigned.reduce((rest, line) => rest.replace(line, ""), program.replace(CLIENT, ""));
  const given = Object.entries(variables).map(
    ([name, value]) =>
      `const ${name.toLowerCase()} = ${/^\d+$/.test(value) ? value : JSON.stringify(value)};\n`,
  );
  return [client, REPORT, ...given, withoutOwn].join("").replaceAll(/baseUrl: ".*"/g, `baseUrl: "${server}"`);
}

/** Runs a program of the demo organization until it ends, or until it has printed a line. Each line is a list of the printed values. */
export const runProgram = (program: string, folder: string, untilLine = false) =>
  runWith([process.execPath, fileOf(program, folder)], program, folder, untilLine);

async function runWith([command = "", ...args]: string[], program: string, cwd: string, untilLine: boolean) {
  const child = spawn(command, args, { cwd, env: PROGRAM_ENV });
  const { seen, ended } = printsOf(child);
  if (untilLine) child.stdout.on("data", () => seen.stdout.includes("\n") && child.kill());
  const { code, stdout, output } = await ended;
  return { code, lines: linesIn(stdout), output: `${program}\n${output}` };
}

/** The function that sends the requests of all Python programs, from the guide to the first request. */
const SEND = /^import os\n[\s\S]*?^def send[\s\S]*?\n(?=\n\n\S|```)/m;

/** Makes a Python program print values as JSON. */
const PYTHON_REPORT = `import builtins, json
def print(*values): builtins.print(json.dumps(values))
`;

/** A Python program of the guides, with the variables from the examples before, for `runPython`. */
export function wholePython(
  { python = "", variables: own }: Pick<Example, "variables"> & { python?: string | undefined },
  variables: Record<string, string>,
  server: string,
  api: Api = "external",
): string {
  const send = SEND.exec(guideText(api))?.[0] ?? "";
  const assigned = own.map((name) => new RegExp(`^${name.toLowerCase()} = .*\n`, "m"));
  const rest = assigned.reduce((text, line) => text.replace(line, ""), python.replace(SEND, ""));
  const given = Object.entries(variables).map(
    ([name, value]) => `${name.toLowerCase()} = ${/^\d+$/.test(value) ? value : JSON.stringify(value)}\n`,
  );
  const whole = [send, "\n\n", PYTHON_REPORT, ...given, rest].join("");
  return whole.replaceAll(/API = ".*"/g, `API = "${server}/api/${api}"`);
}

/** Whether the Python programs can run. */
export const hasPython = spawnSync("python3", ["-c", "import requests"]).status === 0;

if (!hasPython)
  process.stdout.write(
    "Skipped: the Python programs in the guides are not run, because Python 3 with requests is not installed.\n",
  );

export const runPython = (program: string, folder: string, untilLine = false) =>
  runWith(["python3", "-u", "-c", program], program, folder, untilLine);

/** Runs a program in a thread, because starting a process takes much longer than most programs. */
export async function runInThread(program: string, folder: string) {
  const thread = new Worker(fileOf(program, folder), { env: PROGRAM_ENV, stdout: true, stderr: true });
  const [[code], stdout, stderr] = await Promise.all([
    once(thread, "exit"),
    text(thread.stdout),
    text(thread.stderr),
  ]);
  return { code, lines: linesIn(stdout), output: `${program}\n${stdout}${stderr}` };
}

const PROGRAM_ENV = { ...process.env, ...DEMO_ENV, PLATFORM_API_TOKEN: platformToken() ?? "" };

function fileOf(program: string, folder: string): string {
  const file = join(folder, `${randomUUID()}.mjs`);
  writeFileSync(file, program);
  return file;
}

const linesIn = (printed: string): unknown[][] =>
  printed
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** Runs a shell with this input, and returns its output. It does not block this process, which the server may call meanwhile. */
async function runShell(args: string[], input: string, cwd: string): Promise<string> {
  const shell = spawn("sh", args, { cwd });
  shell.stdin.end(input);
  return (await printsOf(shell).ended).output;
}

/** The differences in structure between two JSON values: keys and types. A list is compared by its first element, and `null` fits any type. */
export function* differences(shown: unknown, received: unknown, at = ""): Generator<string> {
  const types = [shown, received].map((each) => (each === null ? "null" : typeof each));
  if (types.includes("undefined") || (types[0] !== types[1] && !types.includes("null")))
    yield `${at}: ${types[0]} is shown, ${types[1]} received`;
  if (!(shown instanceof Object && received instanceof Object)) return;
  const [one, other] = [fieldsOf(shown), fieldsOf(received)];
  for (const key of new Set([...one.keys(), ...other.keys()]))
    yield* differences(one.get(key), other.get(key), `${at}/${key}`);
}

/** Dates are one key. */
const fieldsOf = (value: object) =>
  new Map(
    Object.entries(Array.isArray(value) ? value.slice(0, 1) : value).map(([key, each]) => [
      key.replace(/^\d{4}-\d\d-\d\d$/, "date"),
      each,
    ]),
  );
