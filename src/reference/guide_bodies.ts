import { API_NAMES } from "./apis.ts";
import { examplesOf, requestOf } from "./examples.ts";
import { operationsOf } from "./references.ts";
import { inputOf, routesOf } from "./routes.ts";

/** In characters, like the lines of the code. */
const LINE_WIDTH = 110;

const EXPRESSION = /^(request|input|response) (\w+)(?:: (.+?))?((?:, [\w.]+=\w+)*)$/;

/**
 * The body for a placeholder `request …`, `input …` or `response …`; undefined for any other placeholder.
 *
 * @param where the position in the guide, for error messages
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

function requireText(operationId: string, mediaType: string, where: string): string {
  const answer = requireOperation(operationId, where).operation.alternatives?.[mediaType];
  if (!answer) throw new Error(`${where}: ${operationId} has no response as ${mediaType}`);
  return String(Object.values(examplesOf(answer))[0]);
}

/** @param name the example's name; the first example if left out */
function requireExample(
  kind: "request" | "response",
  operationId: string,
  name: string | undefined,
  where: string,
): unknown {
  const { api, route, operation } = requireOperation(operationId, where);
  const known = routesOf(api).get(route);
  const json = known && inputOf(known, "json");
  const body = kind === "response" ? operation.response : json && requestOf(operation, json);
  if (!body) throw new Error(`${where}: ${operationId} has no ${kind} with a body`);
  const examples = examplesOf(body);
  const example = name === undefined ? Object.values(examples)[0] : examples[name];
  if (!example) throw new Error(`${where}: ${operationId} has no example "${name}" of a ${kind}`);
  return example;
}

function requireOperation(operationId: string, where: string) {
  for (const api of API_NAMES)
    for (const [route, operation] of operationsOf(api))
      if (operation.operationId === operationId) return { api, route, operation };
  throw new Error(`${where}: there is no operation ${operationId}`);
}

/**
 * Writes an example as JSON for the single quotes of a shell command.
 *
 * @param variables each `path=NAME`: the shell variable for a field
 */
export function inSingleQuotes(example: unknown, variables: string[], where: string): string {
  return (
    pretty(withVariables(example, variables, where))
      // Insert the shell's own quotes last, because the line above escapes quotes.
      .replaceAll("'", "'\\''")
      .replace(/"\$number (\w+)"/g, `'"$$$1"'`)
      .replace(/"\$string (\w+)"/g, `"'"$$$1"'"`)
  );
}

/** Writes an example as JSON for a here document, which keeps secrets out of the arguments of processes. */
export function inHereDocument(example: unknown, variables: string[], where: string): string {
  const body = pretty(withVariables(example, variables, where))
    .replace(/"\$number (\w+)"/g, "$$$1")
    .replace(/"\$string (\w+)"/g, '"$$$1"');
  if (/[`\\]|\$(?![A-Z])/.test(body)) throw new Error(`${where}: a shell would change the body`);
  return body;
}

/** Replaces fields of the example with placeholders, which contain the field's type and the name of a shell variable. */
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

interface Style {
  field(key: string, value: string): string;
  /** The space inside the braces of an object on one line. */
  padding: string;
}

const JSON_STYLE: Style = { field: (key, value) => `${JSON.stringify(key)}: ${value}`, padding: "" };

/**
 * Formats a value as JSON, with each list or object on one line if it fits.
 *
 * @param before the length of the text before the value on its line
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
