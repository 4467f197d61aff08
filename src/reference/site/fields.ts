import { EMAIL, HTTP_URL } from "../../http/wire.ts";
import { type Document, type Linked, nameIn, type Parameter, resolved, type Schema } from "./openapi.ts";

/** The direction of a body. Sent fields are marked if they are required, received fields if they may be missing. */
export type Side = "sent" | "received";

const presence = (isRequired: boolean, side: Side): string[] => {
  if (side === "sent") return isRequired ? ["**required**"] : [];
  return isRequired ? [] : ["may be missing"];
};

/**
 * The fields of a body as a nested Markdown list. For a choice of schemas, the fields of each alternative that is an object. A
 * schema that has a page is linked.
 *
 * @throws Error for a JSON Schema keyword that the list cannot show
 */
export function fieldsOf(schema: Schema, document: Linked, side: Side): string[] {
  return objectsIn(schema, document).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([field, value]) => [
      fieldLine(field, value, document, side, presence(required.includes(field), side)),
      ...fieldsOf(value, document, side).map((line) => `  ${line}`),
    ]),
  );
}

function fieldLine(name: string, schema: Schema, document: Linked, side: Side, more: string[]): string {
  const what = [typeOf(schema, document, side), ...more].join(", ");
  const { items } = resolved(schema, document);
  const each = items && !linkOf(items, document) && meaningOf(items, document);
  const meaning = [meaningOf(schema, document), each && `Each: ${each}`].filter(Boolean).join(" ");
  return `- \`${name}\` ${what}${meaning.replace(/^(?=.)/, ": ")}`;
}

export function parameterLine(parameter: Parameter, document: Linked): string {
  const { name, schema, required, description = "", example, in: place } = parameter;
  const { const: only, ...known } = resolved(schema, document);
  // The path of the sample shows its parameters.
  if (place === "path") return `- \`${name}\` *${known.type}*: ${description}`;
  // `enum` instead of `const`, because `const` would be shown as JSON, with quotes.
  const plain = only === undefined ? known : { ...known, enum: [only] };
  const more = presence(required === true, "sent");
  const line = fieldLine(name, { ...plain, description }, document, "sent", more);
  return `${line}${example === undefined ? "" : ` For example \`${example}\`.`}`;
}

const meaningOf = (schema: Schema, document: Linked): string =>
  schema.description ??
  resolved(schema, document).description ??
  schema.anyOf?.map((each) => meaningOf(each, document)).find(Boolean) ??
  "";

/** The type in words, with its limits: "*string*, 1 to 255 characters", "*list of objects* or *null*". */
export function typeOf(schema: Schema, document: Linked, side: Side): string {
  const link = linkOf(schema, document);
  if (link) return link;
  const { anyOf, ...one } = resolved(schema, document);
  requireKnown(one);
  if (anyOf) return anyOf.map((each) => typeOf(each, document, side)).join(", or ");
  const { type, items, format, additionalProperties: values } = one;
  if ("const" in one) return `always \`${JSON.stringify(one.const)}\``;
  const inner = items ?? (values || undefined);
  const linked = inner && linkOf(inner, document);
  const names = [type ?? "any value"].flat().map((each) => {
    if (each === "array" && items)
      return linked ? `*list of* ${linked}` : `*list of ${nameOf(items, document)}s*`;
    if (each === "object" && values) return `*object of ${nameOf(values, document)}s*`;
    return `*${each === "string" ? (STRINGS[format ?? ""] ?? each) : each}*`;
  });
  const limits = [
    ...limitsOf(one, side),
    ...(inner && !linked ? limitsOf(resolved(inner, document), side).map((limit) => `each ${limit}`) : []),
  ];
  return [names.join(" or "), ...limits].join(", ");
}

function linkOf({ $ref = "" }: Schema, { links }: Linked): string | undefined {
  const place = links.get(nameIn($ref));
  return place && `[\`${nameIn($ref)}\`](${place})`;
}

const STRINGS: Record<string, string> = { "date-time": "timestamp", date: "date", uuid: "UUID", uri: "URL" };

function nameOf(schema: Schema, document: Document): string {
  const { type, format, items } = resolved(schema, document);
  const [name = "value"] = [type ?? []].flat();
  if (name === "array" && items) return `list of ${nameOf(items, document)}s and list`;
  return name === "string" ? (STRINGS[format ?? ""] ?? name) : name;
}

/** The limits of a value. Leaves out the length of a text with a `format`: the service reports a wrong length as a wrong format. */
function limitsOf({ enum: values, format, pattern, ...schema }: Schema, side: Side): string[] {
  const known = values?.filter((value) => value !== null);
  const isText = !known && !(format && format in STRINGS);
  const minimum = unlessAll(schema.minimum);
  return [
    ...(known ? [`one of ${known.map((value) => `\`${value}\``).join(", ")}`] : []),
    ...(isText ? range(schema.minLength, schema.maxLength, "characters") : []),
    ...range(schema.minItems, schema.maxItems, "items"),
    ...range(undefined, schema.maxProperties, "keys"),
    // That ids and counts are not negative is not worth a word in a response.
    ...range(
      side === "received" && Number(minimum) <= 1 ? undefined : minimum,
      unlessAll(schema.maximum),
      "",
    ),
    ...(pattern && isText ? inWords(pattern) : []),
    ...("default" in schema ? [`default \`${JSON.stringify(schema.default)}\``] : []),
  ];
}

/** Drops a limit that only says that the number is exact in JSON. */
const unlessAll = (limit = Number.NaN) =>
  Number.isSafeInteger(limit) && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;

const PATTERNS: Record<string, string> = {
  "^[ -~]*$": "printable ASCII",
  "^[0-9]+$": "digits",
  "^[0-9a-f]+$": "hexadecimal digits",
  "^[a-z0-9-]+$": "lowercase letters, digits and hyphens",
  [HTTP_URL]: "an https URL",
  [EMAIL.source]: "an email address",
};

/** A pattern as a sentence. The description and the example of a value tell more; the pattern itself is in the OpenAPI document. */
function inWords(pattern: string): string[] {
  const isText = new RegExp(pattern);
  if (!isText.test("Ä b, 1!")) return PATTERNS[pattern] ? [PATTERNS[pattern]] : [];
  return [...(isText.test(" ") ? [] : ["not blank"]), ...(isText.test("a\nb") ? [] : ["one line"])];
}

function range(min: number | undefined, max: number | undefined, unit: string): string[] {
  const [from, to] = [min, max].map((each) => each?.toLocaleString("en-US"));
  if (from === undefined && to === undefined) return [];
  const text =
    from === to ? from : from && to ? `${from} to ${to}` : from ? `at least ${from}` : `up to ${to}`;
  return [`${text} ${unit}`.trim()];
}

/** The objects in a schema, in the items of a list and in the alternatives of a choice, without those that have a page. */
function objectsIn(schema: Schema, document: Linked): Schema[] {
  if (linkOf(schema, document)) return [];
  const itself = resolved(schema, document);
  const inner = [...(itself.items ? [itself.items] : []), ...(itself.anyOf ?? [])];
  return inner.length > 0 ? inner.flatMap((each) => objectsIn(each, document)) : [itself];
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
