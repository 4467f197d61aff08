/*
 * Adds bounds to the schemas that hold for every value of a kind, so that no schema has to repeat them: the range of an integer,
 * the length of a timestamp.
 */

type Json = Record<string, unknown>;

/** The maximum length of texts in these formats. The service writes every timestamp like `2026-01-31T09:30:00.000Z`. */
const MAX_LENGTHS: Record<string, number> = {
  "date-time": "2026-01-31T09:30:00.000Z".length,
  date: "2026-01-31".length,
  uuid: 36,
};

const INT32 = 2 ** 31;

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

/** The values of these keywords are data, not schemas. */
const VALUES = new Set(["example", "examples", "default", "enum", "const"]);

/** Whether the object's keys are field names, not keywords. */
const isMap = (path: string[]) => path.at(-1) === "properties";

/** Whether the schema is part of a request. Clients may send values that the service never sends, such as longer timestamps. */
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
  // A list of enum values that the service sends has no duplicates.
  if (types.includes("array") && !received && Array.isArray(choices))
    return { maxItems: choices.length, ...json };
  return json;
}

/** JSON's integers are exact up to 2^53. The service never sends a negative integer. */
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
