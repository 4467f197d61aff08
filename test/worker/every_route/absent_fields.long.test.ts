import { describe, expect, it } from "vitest";
import type { JsonSchema as Schema } from "../../project/support/request_schemas.ts";
import { platform } from "../support/api.ts";
import { documents } from "../support/contract.ts";
import { anOrganization } from "../support/organization.ts";
import { externalExamples, platformExamples } from "../support/routes.ts";

/** The documented schema of an operation's body. */
function schemaOf(base: string, route: string): { schema: Schema; resolved: (schema: Schema) => Schema } {
  const document = documents[base];
  const [method = "", pattern = ""] = route.split(" ");
  const operation = document?.paths[pattern.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  const { requestBody } = operation as unknown as {
    requestBody: { content: { "application/json": { schema: Schema } } };
  };
  const resolved = (schema: Schema) =>
    (document?.components.schemas[schema.$ref?.split("/").at(-1) ?? ""] as Schema | undefined) ?? schema;
  return { schema: requestBody.content["application/json"].schema, resolved };
}

/** Fields that callers cannot set, added where the schema does not have them. */
const UNKNOWN = { id: 987_654_321, unknown_id: 987_654_321, created_at: "2001-02-03T04:05:06.000Z" };

/** The body with unknown fields, and with null for each missing optional field that cannot be null. */
function withNulls(body: unknown, schema: Schema, resolved: (schema: Schema) => Schema): unknown {
  const { properties = {}, required = [], items } = resolved(schema);
  if (Array.isArray(body)) return items ? body.map((each) => withNulls(each, items, resolved)) : body;
  if (typeof body !== "object" || body === null) return body;
  const nulls = Object.entries(properties)
    .filter(([name, field]) => !required.includes(name) && !canBeNull(resolved(field)))
    .map(([name]) => [name, null]);
  const given = Object.entries(body).map(([name, value]) => [
    name,
    withNulls(value, properties[name] ?? {}, resolved),
  ]);
  const unknown = Object.entries(UNKNOWN).filter(([name]) => !(name in properties));
  return Object.fromEntries([...unknown, ...nulls, ...given]);
}

const canBeNull = ({ type, anyOf = [] }: Schema): boolean =>
  [type].flat().includes("null") || anyOf.some(canBeNull);

const routes = [
  ...Object.entries(externalExamples).map(([route, example]) => ["/api/external", route, example] as const),
  ...Object.entries(platformExamples).map(([route, example]) => ["/api/platform", route, example] as const),
].filter(([, route]) => !/^(GET|DELETE)/.test(route));

/** A value of the schema's type, though not always one that the operation accepts. */
function sampleOf({
  type,
  anyOf: [first] = [],
  enum: values,
  format,
}: Schema & { format?: string }): unknown {
  if (first) return sampleOf(first);
  if (values) return values.at(-1);
  const text = format === "date-time" ? "2026-01-02T03:04:05.000Z" : "sample";
  return { boolean: true, string: text, integer: 1, number: 1 }[[type].flat()[0] as string];
}

/** The end of a recording is shown once the recording has ended. */
const SHOWN_LATER = "PUT /organizations/:organization_id/egresses/:egress_id ended_at";

describe("A field that the example lacks", () => {
  it.each(routes)("comes back, or is refused, in %s %s", async (base, route, example) => {
    const clinic = await anOrganization();
    const through = base === "/api/external" ? clinic.client : platform;
    for (const [root, fields] of Object.entries((await example(clinic)).body ?? {})) {
      const { schema, resolved } = schemaOf(base, route);
      const { properties = {} } = resolved(resolved(schema).properties?.[root] ?? {});
      const missing = Object.keys(properties).filter((name) => !(name in (fields as object)));
      for (const name of missing.filter((each) => `${route} ${each}` !== SHOWN_LATER)) {
        const value = sampleOf(resolved(properties[name] ?? {}));
        const { path, body = {} } = await example(clinic);
        const whole = { ...(body as Record<string, object>)[root], [name]: value };
        const answer = await through.send(route.split(" ")[0] ?? "", path, { ...body, [root]: whole });
        const shown = answer.status < 300 && value !== undefined ? answer.body[name] : undefined;
        // A legal hold is shown with its details.
        if (shown !== undefined && !shown?.began_at) expect(shown, name).toEqual(value);
      }
    }
  });
});

describe("Nulls for optional fields, and unknown fields,", () => {
  it.each(routes)("count as missing in %s %s", async (base, route, example) => {
    const clinic = await anOrganization();
    const { path, body } = await example(clinic);
    if (body === undefined) return;
    const { schema, resolved } = schemaOf(base, route);
    const [method = ""] = route.split(" ");
    const through = base === "/api/external" ? clinic.client : platform;
    const answer = await through.send(method, path, withNulls(body, schema, resolved));
    expect([200, 201, 202, 204], JSON.stringify(answer.body)).toContain(answer.status);
    expect(JSON.stringify(answer.body)).not.toMatch(/987654321|2001-02-03T04:05:06/);
  });
});

it.each([
  ["/call_metrics", "date_start=&date_end=&waiting_room_id=&days="],
  ["/invites", "status="],
  ["/events", "type=&after="],
  ["/invites", "page=&page=1&per_page"],
])("GET %s treats an empty parameter like a missing one: %s", async (path, query) => {
  const { client } = await anOrganization();
  const { status, body } = await client.get(`${path}?${query}`);
  expect(status).toBe(200);
  expect(body).toEqual((await client.get(path)).body);
});
