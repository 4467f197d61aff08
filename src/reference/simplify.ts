type Json = Record<string, unknown>;

export function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const json = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, simplify(each)]),
  ) as Json;
  // Responses may get new fields in later versions. A type without fields keeps `false`, so that generators know that it is empty.
  if (json.additionalProperties === false && Object.keys(json.properties ?? {}).length > 0)
    delete json.additionalProperties;
  // The format `email` allows fewer addresses than the pattern, which is the one that the service uses.
  if (json.format === "email" && typeof json.pattern === "string") delete json.format;
  // A format's name is easier to read than a long pattern.
  if (typeof json.format === "string" && typeof json.pattern === "string" && json.pattern.length > 40)
    delete json.pattern;
  // zod's smallest integer is not a bound of the service: see bounds.ts.
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.type === "integer" && json.exclusiveMinimum === 0) {
    delete json.exclusiveMinimum;
    json.minimum = 1;
  }
  // `example` is the keyword of OpenAPI 3.0.
  if (("type" in json || "anyOf" in json) && "example" in json) {
    json.examples = [json.example];
    delete json.example;
  }
  // A parameter already has this description, outside its schema.
  if ("in" in json && "schema" in json) delete (json.schema as Json).description;
  if (json.type === "object") simplifyObject(json);
  return withoutChoiceOfNull(json);
}

function simplifyObject(json: Json) {
  // Keys of a JSON object are always strings.
  delete json.propertyNames;
  // A property that must be absent is not shown as a field.
  const { properties = {} } = json as { properties?: Record<string, Json> };
  for (const [name, { not }] of Object.entries(properties)) if (not) delete properties[name];
}

/** Writes a nullable scalar as two types. A nullable object stays a choice of two schemas. */
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
