import type { Operation } from "../openapi/operation.ts";
import { examplesOf } from "./examples.ts";
import { references } from "./references.ts";

/** That of the code. */
const LINE_WIDTH = 110;

const EXPRESSION = /^(request|input|response) (\w+)(?:: (.+?))?((?:, [\w.]+=\w+)*)$/;

/**
 * The body that `request …`, `input …` or `response …` stands for; undefined if it is another expression.
 *
 * @param where for the text of an error
 * @throws Error for an unknown operation, example or field
 */
export function guideBody(expression: string, where: string): string | undefined {
  const [, kind, operationId = "", name, variables = ""] = EXPRESSION.exec(expression) ?? [];
  const shellVariables = variables.split(", ").slice(1);
  if (kind === "request")
    return inSingleQuotes(requireExample(kind, operationId, name, where), shellVariables, where);
  if (kind === "input")
    return inHereDocument(requireExample("request", operationId, name, where), shellVariables, where);
  if (kind === "response" && !variables)
    return `\`\`\`json\n${pretty(requireExample(kind, operationId, name, where))}\n\`\`\``;
  const [, id = "", mediaType = ""] = /^response (\w+) as (\S+)$/.exec(expression) ?? [];
  if (mediaType) return `\`\`\`text\n${requireText(id, mediaType, where).trim()}\n\`\`\``;
  return undefined;
}

/** The example of a response that is no JSON. */
function requireText(operationId: string, mediaType: string, where: string): string {
  const answer = requireOperation(operationId, where).alternatives?.[mediaType];
  if (!answer) throw new Error(`${where}: ${operationId} has no response as ${mediaType}`);
  return String(Object.values(examplesOf(answer))[0]);
}

/** @param name that of the first example if it is left out */
function requireExample(
  kind: "request" | "response",
  operationId: string,
  name: string | undefined,
  where: string,
): unknown {
  const body = requireOperation(operationId, where)[kind];
  if (!body) throw new Error(`${where}: ${operationId} has no ${kind} with a body`);
  const examples = examplesOf(body);
  const example = name === undefined ? Object.values(examples)[0] : examples[name];
  if (!example) throw new Error(`${where}: ${operationId} has no example "${name}" of a ${kind}`);
  return example;
}

function requireOperation(operationId: string, where: string): Operation {
  const operation = references
    .flatMap(({ external = {}, platform = {} }) => [...Object.values(external), ...Object.values(platform)])
    .find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`${where}: there is no operation ${operationId}`);
  return operation;
}

/**
 * JSON that stands between single quotes of a shell.
 *
 * @param variables `path=NAME` each: the shell variables in the places of fields
 */
export function inSingleQuotes(example: unknown, variables: string[], where: string): string {
  return (
    pretty(withVariables(example, variables, where))
      // The quotes of the shell come last: before, they would be escaped.
      .replaceAll("'", "'\\''")
      .replace(/"\$number (\w+)"/g, `'"$$$1"'`)
      .replace(/"\$string (\w+)"/g, `"'"$$$1"'"`)
  );
}

/** JSON that a shell sends to the input of a command, as a here document, so that no process has it as an argument. */
export function inHereDocument(example: unknown, variables: string[], where: string): string {
  const body = pretty(withVariables(example, variables, where))
    .replace(/"\$number (\w+)"/g, "$$$1")
    .replace(/"\$string (\w+)"/g, '"$$$1"');
  if (/[`\\]|\$(?![A-Z])/.test(body)) throw new Error(`${where}: a shell would change the body`);
  return body;
}

/** The example with the names of shell variables in the places of fields, each as a text with the type of the field. */
function withVariables(example: unknown, variables: string[], where: string): unknown {
  const body = structuredClone(example);
  for (const [path = "", variable] of variables.map((each) => each.split("="))) {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: any JSON
    const parent = keys.reduce((value: any, key) => value?.[key], body);
    const type = typeof parent?.[last];
    if (type !== "string" && type !== "number")
      throw new Error(`${where}: the example has no text or number ${path}`);
    parent[last] = `$${type} ${variable}`;
  }
  return body;
}

/** How a language writes an object. */
interface Style {
  field(key: string, value: string): string;
  /** Inside the braces of an object on one line. */
  padding: string;
}

const JSON_STYLE: Style = { field: (key, value) => `${JSON.stringify(key)}: ${value}`, padding: "" };

/**
 * JSON in which a list or an object is on one line if it fits.
 *
 * @param before the length of what stands before it on its line
 */
export function pretty(value: unknown, style = JSON_STYLE, before = 0, width = LINE_WIDTH): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = (room: number) =>
    Object.entries(value).map(([key, item]) =>
      isList
        ? pretty(item, style, 0, room)
        : style.field(key, pretty(item, style, `"${key}": `.length, room)),
    );
  const [start, end] = isList ? "[]" : "{}";
  const padding = isList ? "" : style.padding;
  const line = `${start}${padding}${items(Number.POSITIVE_INFINITY).join(", ")}${padding}${end}`;
  if (before + line.length <= width) return line;
  const lines = items(width - 2).join(",\n");
  return `${start}\n  ${lines.replaceAll("\n", "\n  ")}\n${end}`;
}
