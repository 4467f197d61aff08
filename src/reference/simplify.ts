type Json = Record<string, unknown>;

/** Simplifies what zod writes, in a whole document, for readers. */
export function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const json = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, simplify(each)]),
  ) as Json;
  // Responses may get new fields in later versions. But one that has none tells a generator that it is empty.
  if (json.additionalProperties === false && Object.keys(json.properties ?? {}).length > 0)
    delete json.additionalProperties;
  // This format knows fewer addresses than the pattern, which is what the service takes and answers.
  if (json.format === "email" && typeof json.pattern === "string") delete json.format;
  // The name of a format says more than a long pattern.
  if (typeof json.format === "string" && typeof json.pattern === "string" && json.pattern.length > 40)
    delete json.pattern;
  // Zod's smallest integer says nothing of ours: see bounds.ts.
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.type === "integer" && json.exclusiveMinimum === 0) {
    delete json.exclusiveMinimum;
    json.minimum = 1;
  }
  // The word of OpenAPI 3.0, which stands beside zod's schemas.
  if (("type" in json || "anyOf" in json) && "example" in json) {
    json.examples = [json.example];
    delete json.example;
  }
  // The description of a parameter stands beside its schema too.
  if ("in" in json && "schema" in json) delete (json.schema as Json).description;
  if (json.type === "object") simplifyObject(json);
  return withoutChoiceOfNull(json);
}

function simplifyObject(json: Json) {
  // Keys of a JSON object are always strings.
  delete json.propertyNames;
  // What a body must not have, whatever its value, is no field.
  const { properties = {} } = json as { properties?: Record<string, Json> };
  for (const [name, { not }] of Object.entries(properties)) if (not) delete properties[name];
}

/** Writes a scalar or null as two types. An object or null stays a choice of two schemas. */
function withoutChoiceOfNull({ anyOf, ...json }: Json): Json {
  const [value, none, ...others] = (anyOf ?? []) as Json[];
  const isScalar = typeof value?.type === "string" && value.type !== "object";
  if (isScalar && none?.type === "null" && others.length === 0)
    return {
      ...value,
      ...json,
      type: [value.type, "null"],
      ...(Array.isArray(value.enum) && { enum: [...value.enum, null] }),
    };
  return anyOf === undefined ? json : { ...json, anyOf };
}
