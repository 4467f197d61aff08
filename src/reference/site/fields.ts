import { EMAIL } from "../../http/wire.ts";
import type { Document, Schema } from "./openapi.ts";

/** The direction of a body. Sent fields are marked if they are required, received fields if they may be missing. */
export type Side = "sent" | "received";

const presence = (isRequired: boolean, side: Side): string[] => {
  if (side === "sent") return isRequired ? ["**required**"] : [];
  return isRequired ? [] : ["may be missing"];
};

/**
 * The fields of a body as a nested Markdown list. For a choice of schemas, the fields of each alternative that is an object.
 *
 * @throws Error for a JSON Schema keyword that the list cannot show
 */
export function fieldsOf(schema: Schema, document: Document, side: Side, within: string[] = []): string[] {
  return objectsIn(schema, document).flatMap(({ name, properties = {}, required = [] }) =>
    name && within.includes(name)
      ? []
      : Object.entries(properties).flatMap(([field, value]) => [
          fieldLine(field, value, document, presence(required.includes(field), side)),
          ...fieldsOf(value, document, side, name ? [...within, name] : within).map((line) => `  ${line}`),
        ]),
  );
}

export function fieldLine(name: string, schema: Schema, document: Document, more: string[] = []): string {
  const what = [typeOf(schema, document), ...more].join(", ");
  const { items } = resolved(schema, document);
  const each = items && meaningOf(items, document);
  const meaning = [meaningOf(schema, document), each && `Each: ${each}`].filter(Boolean).join(" ");
  return `- \`${name}\` ${what}${meaning.replace(/^(?=.)/, ": ")}`;
}

const meaningOf = (schema: Schema, document: Document): string =>
  schema.description ??
  resolved(schema, document).description ??
  schema.anyOf?.map((each) => meaningOf(each, document)).find(Boolean) ??
  "";

/** The type in words, with its limits: "*string*, 1 to 255 characters", "*list of objects* or *null*". */
export function typeOf(schema: Schema, document: Document): string {
  const { anyOf, ...one } = resolved(schema, document);
  requireKnown(one);
  if (anyOf) return anyOf.map((each) => typeOf(each, document)).join(", or ");
  const { type, items, format, additionalProperties: values } = one;
  if ("const" in one) return `always \`${JSON.stringify(one.const)}\``;
  const names = [type ?? "any value"].flat().map((each) => {
    if (each === "array" && items) return `list of ${nameOf(items, document)}s`;
    if (each === "object" && values) return `object of ${nameOf(values, document)}s`;
    return each === "string" ? (STRINGS[format ?? ""] ?? each) : each;
  });
  const inner = items ?? (values || undefined);
  const limits = [...limitsOf(one), ...(inner ? limitsOfEach(inner, document) : [])];
  return [names.map((each) => `*${each}*`).join(" or "), ...limits].join(", ");
}

const STRINGS: Record<string, string> = { "date-time": "timestamp", date: "date", uuid: "UUID", uri: "URL" };

function nameOf(schema: Schema, document: Document): string {
  const { type, format, items } = resolved(schema, document);
  const [name = "value"] = [type ?? []].flat();
  if (name === "array" && items) return `list of ${nameOf(items, document)}s and list`;
  return name === "string" ? (STRINGS[format ?? ""] ?? name) : name;
}

const limitsOfEach = (schema: Schema, document: Document): string[] =>
  limitsOf(resolved(schema, document)).map((limit) => `each ${limit}`);

/** The limits of a value. Leaves out the length of a text with a `format`: the service reports a wrong length as a wrong format. */
function limitsOf({ enum: values, format, pattern, ...schema }: Schema): string[] {
  const known = values?.filter((value) => value !== null);
  const isText = !known && !(format && format in STRINGS);
  return [
    ...(known ? [`one of ${known.map((value) => `\`${value}\``).join(", ")}`] : []),
    ...(isText ? range(schema.minLength, schema.maxLength, "characters") : []),
    ...range(schema.minItems, schema.maxItems, "items"),
    ...range(undefined, schema.maxProperties, "keys"),
    ...range(unlessAll(schema.minimum), unlessAll(schema.maximum), ""),
    ...(pattern && isText ? [PATTERNS[pattern] ?? `matches \`${pattern.replaceAll("`", "\\x60")}\``] : []),
    ...("default" in schema ? [`default \`${JSON.stringify(schema.default)}\``] : []),
  ];
}

/** Drops a limit that only says that the number is exact in JSON. */
const unlessAll = (limit = Number.NaN) =>
  Number.isSafeInteger(limit) && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;

const PATTERNS: Record<string, string> = {
  "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\x00-\\x1f\\x7f-\\x9f\\s][^\\x00-\\x1f\\x7f-\\x9f]*$":
    "not blank, without control characters",
  "^[^\\x00-\\x1f\\x7f-\\x9f]*$": "without control characters",
  "^[^\\x00]*[^\\x00\\s][^\\x00]*$": "not blank, without U+0000",
  "^[ -~]*$": "printable ASCII",
  "^[0-9]+$": "digits",
  [EMAIL.source]: "an email address",
};

function range(min: number | undefined, max: number | undefined, unit: string): string[] {
  const [from, to] = [min, max].map((each) => each?.toLocaleString("en-US"));
  if (from === undefined && to === undefined) return [];
  const text =
    from === to ? from : from && to ? `${from} to ${to}` : from ? `at least ${from}` : `up to ${to}`;
  return [`${text} ${unit}`.trim()];
}

export function resolved(schema: Schema, { components }: Document): Schema {
  if (!schema.$ref) return schema;
  const found = components.schemas[nameIn(schema.$ref)];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return found;
}

export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);

/** The objects in a schema, in the items of a list and in the alternatives of a choice, with the names of named schemas. */
function objectsIn(schema: Schema, document: Document): (Schema & { name?: string })[] {
  const itself = resolved(schema, document);
  const inner = [...(itself.items ? [itself.items] : []), ...(itself.anyOf ?? [])];
  if (inner.length > 0) return inner.flatMap((each) => objectsIn(each, document));
  return [{ ...itself, ...(schema.$ref ? { name: nameIn(schema.$ref) } : {}) }];
}

const KNOWN = new Set(
  "$ref additionalProperties anyOf const default description enum examples format items maxItems maxLength maxProperties maximum minItems minLength minimum pattern properties required type".split(
    " ",
  ),
);

function requireKnown(schema: Schema) {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknown) throw new Error(`The reference cannot show the keyword "${unknown}" of a schema`);
}
