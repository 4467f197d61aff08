import type { Api } from "./apis.ts";
import { pretty } from "./guide_bodies.ts";
import { operationsOf } from "./references.ts";

/*
 * Adds programs to the guides: with the client package, which has only the external API, and in Python. Each program is generated from
 * the curl command above it, unless a block of that language already follows the command.
 */

type Json = Record<string, unknown>;

interface Operation {
  operationId: string;
  method: string;
  segments: string[];
}

const operations = operationsOf("external").map(([route, { operationId }]): Operation => {
  const [method = "", pattern = ""] = route.split(" ");
  return { operationId, method, segments: pattern.split("/") };
});

const COMMAND = /( *)```sh\n((?:(?!```)[\s\S])*?"\$API\/(?:(?!```)[\s\S])*?)\n *```\n/;

const followedBy = (language: string) =>
  `((?:(?!Response:)[\\s\\S])*?\`\`\`${language}\\n(?:(?!\`\`\`)[\\s\\S])*\`\`\`\\n)`;

/** A block of commands that sends a request and has no program for the package before its response. */
const WITHOUT_JS = new RegExp(`^${COMMAND.source}(?!${followedBy("js")})`, "gm");

/** A command, and its JavaScript program if there is one, before which no program is in Python. */
const WITHOUT_PYTHON = new RegExp(`^${COMMAND.source}${followedBy("js")}?(?!${followedBy("python")})`, "gm");

export function withPrograms(guides: string, api: Api): string {
  const block = (indentation: string, text: string, language: string, program: string) =>
    `\n${`${text}:\n\n\`\`\`${language}\n${program}\n\`\`\``.replace(/^(?=.)/gm, indentation)}\n`;
  return guides
    .replace(
      api === "external" ? WITHOUT_JS : /$^/,
      (commands, indentation: string, command: string) =>
        commands + block(indentation, "With the package", "js", programOf(command)),
    )
    .replace(
      WITHOUT_PYTHON,
      (programs, indentation: string, command: string) =>
        programs + block(indentation, "In Python", "python", pythonOf(command)),
    );
}

/** @throws Error if the command calls no known operation, or its body cannot be parsed */
export function programOf(command: string): string {
  const { method, path, query, body } = requestIn(command);
  const { operationId, segments } = operationFor(method, path);
  const parameters = path.split("/").map((value, n) => [segments[n]?.slice(1) ?? "", value] as const);
  const input = {
    ...Object.fromEntries(
      parameters
        .filter((_, n) => segments[n]?.startsWith(":"))
        .map(([name, value]) => [name, meaning(value)]),
    ),
    ...query,
    ...body,
  };
  const options = optionsOf(command);
  const [, user, purpose] = /"X-Acting-User: (.*?)"[\s\S]*?"X-Purpose-Of-Use: (.*?)"/.exec(command) ?? [];
  const client = user ? `visits.withActingUser("${user}", "${purpose}")` : "visits";
  const call = `console.log(await ${client}.${operationId}(`;
  const given = hasKeys(options) ? [input, options] : hasKeys(input) ? [input] : [];
  const written = given.map((each) => javascript(each, call.length + ");".length + 1));
  return [
    ...assignmentsOf(command).map(([name, value]) => `const ${name} = ${javascript(value)};`),
    `${call}${written.join(", ")}));`,
  ].join("\n");
}

/** In characters. */
const PYTHON_WIDTH = 100;

/** Translates a curl command into Python, with the function `send` of the first guide. */
function pythonOf(command: string): string {
  const { method, path, query, body } = requestIn(command);
  const headers = [...command.matchAll(/-H "(?!Content-Type)([\w-]+): (.*?)"/g)].map(
    ([, name = "", value = ""]) => [name, meaning(value)],
  );
  const url = path.replace(/\$(\w+)/g, (_, name: string) => `{${name.toLowerCase()}}`);
  const options = {
    ...(hasKeys(query) && { params: query }),
    ...(body && { json: body }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
  };
  const given = [
    JSON.stringify(method),
    `${url === path ? "" : "f"}${JSON.stringify(url)}`,
    ...Object.entries(options).map(([name, value]) => `${name}=${python(value)}`),
  ];
  const line = `print(send(${given.join(", ")}))`;
  const lines = given.map((each) => `    ${each.replaceAll("\n", "\n    ")},\n`).join("");
  return [
    ...assignmentsOf(command).map(([name, value]) => `${name} = ${python(value)}`),
    line.length > PYTHON_WIDTH || line.includes("\n") ? `response = send(\n${lines})\nprint(response)` : line,
  ].join("\n");
}

function requestIn(command: string) {
  const [, method, url = ""] = /\bcurl\b[^"]*?(?:-X (\w+) )?(?:-i )?"\$API(\/[^"]*)"/.exec(command) ?? [];
  const [path = "", query = ""] = url.split("?");
  const body = commandBody(command);
  return {
    method: method ?? (body ? "POST" : "GET"),
    path,
    query: Object.fromEntries([...new URLSearchParams(query)].map(([name, value]) => [name, meaning(value)])),
    body,
  };
}

const hasKeys = (value: object) => Object.keys(value).length > 0;

function operationFor(method: string, path: string): Operation {
  const asked = path.split("/");
  const found = operations.find(
    (each) =>
      each.method === method &&
      each.segments.length === asked.length &&
      each.segments.every((segment, n) => segment.startsWith(":") || segment === asked[n]),
  );
  if (!found) throw new Error(`A guide sends ${method} ${path}, which is not an operation`);
  return found;
}

/** The variables that the command assigns. Leaves out `$API`, since the programs have the address. */
const assignmentsOf = (command: string): [name: string, value: unknown][] =>
  [...command.matchAll(/^ *([A-Z_]+)=(.*)$/gm)]
    .filter(([, name]) => name !== "API")
    .map(([, name = "", value = ""]) => [name.toLowerCase(), meaning(value)]);

/** Reads a value in a URL or an assignment: the content of a file, a variable, a number or a string. */
function meaning(value: string): unknown {
  const [, file] = /^\$\(cat (.*)\)$/.exec(value) ?? [];
  if (file) return `$file ${file}`;
  if (value.startsWith("$")) return `$string ${value.slice(1)}`;
  return /^\d+$/.test(value) ? Number(value) : value;
}

/** The body is an argument, a here document, or the content of a file that an earlier command has written. */
function commandBody(command: string): Json | undefined {
  const [, input] = / -d @- <<END\n([\s\S]*?)\nEND/.exec(command) ?? [];
  if (input) return JSON.parse(input.replace(/"\$([A-Z_]+)"/g, '"$string $1"'));
  const [, text] =
    / -d '((?:[^']|'\\''|'"\$[A-Z_]+"')*)'/.exec(command) ??
    /\becho '((?:[^']|'\\'')*)' > /.exec(command) ??
    [];
  if (text === undefined) {
    if (/ (-d|--data)/.test(command))
      throw new Error(`A guide sends a body that cannot be parsed:\n${command}`);
    return undefined;
  }
  return JSON.parse(
    text
      .replace(/"'"\$([A-Z_]+)"'"/g, '"$string $1"')
      .replace(/'"\$([A-Z_]+)"'/g, '"$number $1"')
      .replaceAll("'\\''", "'"),
  );
}

function optionsOf(command: string): Json {
  const [, key] = /"Idempotency-Key: (.*?)"/.exec(command) ?? [];
  const [, accept] = /"Accept: (.*?)"/.exec(command) ?? [];
  return { ...(key ? { idempotencyKey: meaning(key) } : {}), ...(accept ? { accept } : {}) };
}

const javascript = (value: unknown, before = 0): string =>
  pretty(value, { field, padding: " " }, before).replace(VARIABLE, (_, name: string) => name.toLowerCase());

const PYTHON: Record<string, string> = { true: "True", false: "False", null: "None" };

/** JSON, apart from the names of constants and variables. */
const python = (value: unknown): string =>
  pretty(value)
    .replace(/^"\$file (.*)"$/, 'open("$1").read().strip()')
    .replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => PYTHON[token] ?? token)
    .replace(VARIABLE, (_, name: string) => name.toLowerCase());

const VARIABLE = /"\$(?:string|number) (\w+)"/g;

function field(key: string, value: string): string {
  const isVariable = value.replace(VARIABLE, "$1").toLowerCase() === key && value.startsWith('"$');
  return isVariable ? key : `${key}: ${value}`;
}
