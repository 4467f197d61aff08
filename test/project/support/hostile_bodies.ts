/** Bodies that are as large as a route accepts, and that cost as much memory as possible. */
import { isOf, type JsonSchema, nodesOf } from "./request_schemas.ts";

interface HostileBody {
  what: string;
  text: string;
}

/** Elements of lists, each as JSON. Elements with two or three characters make the longest lists. */
const ELEMENTS = ["0", '""', "null", "{}", "[]", "[[]]", '{"__proto__":0}'];

/** Parts of texts as JSON writes them: a blank, a character of two UTF-16 units, a control character. */
const PARTS = [" ", "😀", "\\u0000"];

/** The parts of a schema that only people read. */
const PROSE = new Set(["description", "example", "examples"]);

/** The schemas that were tried. Values of one schema are refused alike, wherever they are. */
const tried = new Set<string>();

/** Bodies with a fault in one value that the schema knows. Each schema is tried once for each limit. */
export function* faultyBodies(schema: JsonSchema, example: unknown, limit: number): Generator<HostileBody> {
  for (const { path, schema: node } of nodesOf(schema)) {
    const rules = JSON.stringify([limit, node], (key, value) => (PROSE.has(key) ? undefined : value));
    // The whole body is tried with every route.
    if (path.length > 0 && tried.has(rules)) continue;
    tried.add(rules);
    const where = path.join(".") || "body";
    const [before = "", after = ""] = JSON.stringify(withMarker(example, path)).split(JSON.stringify(MARKER));
    const room = limit - Buffer.byteLength(before + after) - 2;
    const at = (what: string, json: string) => ({ what: `${what} as ${where}`, text: before + json + after });
    for (const element of isOf(node, "array") ? [...ELEMENTS, ...faultyElements(node.items ?? {})] : []) {
      const what = element.slice(0, 50);
      yield at(`a list of ${what}`, listOf(element, room));
      // As long as the list may be, so that the service checks each element.
      yield at(`an accepted number of ${what}`, listOf(element, room, node.maxItems));
    }
    if (isOf(node, "string"))
      for (const part of node.format === "date-time" ? [...PARTS, "T00:00"] : PARTS)
        yield at(`a text of ${part}`, `"${fill(part, room)}"`);
    if (isOf(node, "number") || isOf(node, "integer")) yield at("a number of many digits", fill("1", room));
  }
}

/** Bodies that the schema does not describe, by themselves and under an unknown key. */
export function* misshapenBodies(example: unknown, limit: number): Generator<HostileBody> {
  yield* shapes(limit);
  const unknownKey = `${JSON.stringify(example).slice(0, -1)},"unknown":`;
  for (const { what, text } of shapes(limit - Buffer.byteLength(unknownKey) - 1))
    yield { what: `${what} under an unknown key`, text: `${unknownKey}${text}}` };
}

function* shapes(limit: number): Generator<HostileBody> {
  for (const element of [...ELEMENTS, "1.5", '"a"', '{"a":0}']) {
    yield { what: `a list of ${element}`, text: listOf(element, limit) };
    yield { what: `an accepted number of ${element}`, text: listOf(element, limit, 99_000) };
  }
  for (const most of [Number.POSITIVE_INFINITY, 99_000]) {
    const lists = Math.min(most, Math.floor(limit / 2));
    yield { what: `lists in lists, ${lists} deep`, text: "[".repeat(lists) + "]".repeat(lists) };
    const objects = Math.min(most, Math.floor(limit / 6) - 1);
    const text = `${'{"a":'.repeat(objects)}0${"}".repeat(objects)}`;
    yield { what: `objects in objects, ${objects} deep`, text };
  }
  yield { what: "lists that do not end", text: "[".repeat(limit) };
  yield { what: "a text that does not end", text: `["${"[".repeat(limit - 2)}` };
  yield { what: "very many keys", text: objectOf(limit, (n) => `"k${n}":0`) };
  const objects = fillWith(limit - 2, (n) => `{"k${n}":0}`);
  yield { what: "very many objects of different keys", text: `[${objects}]` };
  yield { what: "a key over and over", text: objectOf(limit, () => '"a":0') };
  yield { what: "a long key", text: `{"${"k".repeat(limit - 6)}":0}` };
  yield { what: "a long text", text: `"${"a".repeat(limit - 2)}"` };
}

/** Elements with a fault in every field, and with a fault in only one field. */
function faultyElements(items: JsonSchema): string[] {
  const names = Object.keys(items.properties ?? {});
  if (names.length === 0) return ['"nobody"', "-1", "1e999"];
  const valid = Object.fromEntries(names.map((name) => [name, exampleOf(items.properties?.[name] ?? {})]));
  return [
    ...["\0", {}, [], -1].map((wrong) =>
      JSON.stringify(Object.fromEntries(names.map((name) => [name, wrong]))),
    ),
    ...names.flatMap((name) => ["\0", -1].map((wrong) => JSON.stringify({ ...valid, [name]: wrong }))),
    JSON.stringify(valid),
  ];
}

function exampleOf(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0] ?? {});
  if (schema.pattern?.includes("]+@[")) return "a@example.com";
  if (schema.format === "date-time") return "2026-01-31T09:30:00Z";
  if (isOf(schema, "string")) return "a";
  if (isOf(schema, "boolean")) return true;
  if (isOf(schema, "array")) return [exampleOf(schema.items ?? {})];
  return 1;
}

const MARKER = "\u{1f6a9}";

/** The example with a marker at the path. Adds the field if the example lacks it. */
function withMarker(value: unknown, path: string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return MARKER;
  if (first === "*") {
    const [element, ...others] = Array.isArray(value) ? value : [];
    return [withMarker(element, rest), ...others];
  }
  return { ...(value as object), [first]: withMarker((value as Record<string, unknown>)?.[first], rest) };
}

const fill = (text: string, bytes: number) =>
  text.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(text))));

const listOf = (element: string, bytes: number, most = Number.POSITIVE_INFINITY) => {
  const length = Math.min(most, Math.floor((bytes - 2) / (Buffer.byteLength(element) + 1)));
  return `[${Array(Math.max(0, length)).fill(element).join()}]`;
};

const objectOf = (bytes: number, entry: (n: number) => string) => `{${fillWith(bytes - 2, entry)}}`;

function fillWith(bytes: number, part: (n: number) => string): string {
  const parts: string[] = [];
  for (let n = 0, length = -1; ; n++) {
    const next = part(n);
    length += next.length + 1;
    if (length > bytes) return parts.join();
    parts.push(next);
  }
}
