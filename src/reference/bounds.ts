/*
 * What is known of every value of some kind, so that no schema needs to say it: how large an integer can be, how long a
 * timestamp is.
 */

type Json = Record<string, unknown>;

/** Texts of these formats are never longer, and those of the service are all like `2026-01-31T09:30:00.000Z`. */
const MAX_LENGTHS: Record<string, number> = {
  "date-time": "2026-01-31T09:30:00.000Z".length,
  date: "2026-01-31".length,
  uuid: 36,
};

const INT32 = 2 ** 31;

/** The document with these bounds, where its schemas do not have their own. */
export function bounded<Value>(value: Value, path: string[] = []): Value {
  if (Array.isArray(value)) return value.map((each) => bounded(each, [...path, "*"])) as Value;
  if (typeof value !== "object" || value === null) return value;
  const json = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      VALUES.has(name) && !isMap(path) ? each : bounded(each, [...path, name]),
    ]),
  );
  return withBounds(json, isReceived(path)) as Value;
}

/** Under these words of a schema, a parameter or a body are values, and not schemas. */
const VALUES = new Set(["example", "examples", "default", "enum", "const"]);

/** In such an object, the words are names that we choose. */
const isMap = (path: string[]) => path.at(-1) === "properties";

/** Requests of other people may have what the service never sends. */
const isReceived = ([part, , name = "", at]: string[]) =>
  (part === "paths" && (at === "parameters" || at === "requestBody")) ||
  (part === "components" && name.endsWith("Request"));

function withBounds(json: Json, received: boolean): Json {
  const types = [json.type].flat();
  if (types.includes("integer")) return boundedInteger(json, received);
  if (types.includes("string")) {
    const maxLength = MAX_LENGTHS[String(json.format)];
    const isFree = received && json.format === "date-time";
    return maxLength === undefined || isFree ? json : { maxLength, ...json };
  }
  const choices = (json.items as Json | undefined)?.enum;
  // Those that the service sends are sets.
  if (types.includes("array") && !received && Array.isArray(choices))
    return { maxItems: choices.length, ...json };
  return json;
}

/** JSON's integers are exact up to 2^53. No integer of the service is negative. */
function boundedInteger(json: Json, received: boolean): Json {
  const { minimum = received || "exclusiveMinimum" in json ? undefined : 0 } = json;
  const { maximum = "exclusiveMaximum" in json ? undefined : Number.MAX_SAFE_INTEGER } = json;
  const isSmall = Number(minimum) >= -INT32 && Number(maximum) < INT32;
  return {
    ...json,
    format: isSmall ? "int32" : "int64",
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}
