import { pretty } from "./guide_bodies.ts";
import { references } from "./references.ts";

/*
 * Adds programs with the client package to the guides. Each program is generated from the curl command above it, unless a block
 * of JavaScript already follows the command.
 */

type Json = Record<string, unknown>;

interface Operation {
  operationId: string;
  method: string;
  segments: string[];
}

const operations: Operation[] = references.flatMap(({ external = {} }) =>
  Object.entries(external).map(([route, { operationId }]) => {
    const [method = "", pattern = ""] = route.split(" ");
    return { operationId, method, segments: pattern.split("/") };
  }),
);

/** A block of commands that sends a request and has no program before its response. */
const COMMAND =
  /^( *)```sh\n((?:(?!```)[\s\S])*?"\$API\/(?:(?!```)[\s\S])*?)\n *```\n(?!(?:(?!Response:)[\s\S])*?```js\n)/gm;

export const withPrograms = (guides: string): string =>
  guides.replace(
    COMMAND,
    (block, indentation: string, command: string) =>
      `${block}\n${`With the package:\n\n\`\`\`js\n${programOf(command)}\n\`\`\``.replace(/^(?=.)/gm, indentation)}\n`,
  );

/** @throws Error if the command calls no known operation, or its body cannot be parsed */
export function programOf(command: string): string {
  const [, method, url = ""] = /\bcurl\b[^"]*?(?:-X (\w+) )?(?:-i )?"\$API(\/[^"]*)"/.exec(command) ?? [];
  const [path = "", query = ""] = url.split("?");
  const body = commandBody(command);
  const { operationId, segments } = operationFor(method ?? (body ? "POST" : "GET"), path);
  const parameters = path.split("/").map((value, n) => [segments[n]?.slice(1) ?? "", value] as const);
  const input = {
    ...Object.fromEntries(
      parameters
        .filter((_, n) => segments[n]?.startsWith(":"))
        .map(([name, value]) => [name, meaning(value)]),
    ),
    ...Object.fromEntries([...new URLSearchParams(query)].map(([name, value]) => [name, meaning(value)])),
    ...body,
  };
  const options = optionsOf(command);
  const call = `console.log(await visits.${operationId}(`;
  const given = hasKeys(options) ? [input, options] : hasKeys(input) ? [input] : [];
  const written = given.map((each) => javascript(each, call.length + ");".length + 1));
  return [...assignmentsOf(command), `${call}${written.join(", ")}));`].join("\n");
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

/** The lines that assign variables. Leaves out `$API`, since the client has the address. */
const assignmentsOf = (command: string): string[] =>
  [...command.matchAll(/^ *([A-Z_]+)=(.*)$/gm)]
    .filter(([, name]) => name !== "API")
    .map(([, name = "", value = ""]) => `const ${name.toLowerCase()} = ${javascript(meaning(value))};`);

/** Reads a value in a URL or an assignment: a variable, a number or a string. */
function meaning(value: string): unknown {
  if (value.startsWith("$")) return `$string ${value.slice(1)}`;
  return /^\d+$/.test(value) ? Number(value) : value;
}

/** The body is an argument, or the content of a file that an earlier command has written. */
function commandBody(command: string): Json | undefined {
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

const VARIABLE = /"\$(?:string|number) (\w+)"/g;

function field(key: string, value: string): string {
  const isVariable = value.replace(VARIABLE, "$1").toLowerCase() === key && value.startsWith('"$');
  return isVariable ? key : `${key}: ${value}`;
}
