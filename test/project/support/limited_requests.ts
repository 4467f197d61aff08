/** Requests that are valid except for one value, from the documents and the examples of all routes. */
import { exampleFor } from "./documented_examples.ts";
import { type JsonSchema, nodesOf, type Operation } from "./request_schemas.ts";
import type { Outcome, Service } from "./service_in_memory.ts";
import { makeRequest } from "./worker_in_node.ts";

/** A parameter, or a value in a body. */
export interface Place {
  in: "body" | "path" | "query" | "header";
  path: string[];
  /** The name in the text of a refusal. */
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
}

export function placesOf({ parameters, body }: Operation): Place[] {
  const nodes = body ? nodesOf(body.schema) : [];
  const required = new Set(
    nodes.flatMap(({ path, schema }) => (schema.required ?? []).map((name) => [...path, name].join("."))),
  );
  return [
    ...parameters.map(({ name, in: place, schema, required: isRequired = false }) => ({
      in: place,
      path: [name],
      name,
      schema,
      isRequired,
    })),
    ...nodes.map(({ path: general, schema }) => {
      const path = general.map((name) => (name === "*" ? "0" : name));
      const isRequired = required.has(general.join("."));
      return { in: "body" as const, path, name: path.join(".") || "body", schema, isRequired };
    }),
  ];
}

export async function exampleOf({ clinic, credentials }: Service, operation: Operation) {
  const { api, method, path: template } = operation;
  const { path, body } = await exampleFor(operation)(clinic);
  return {
    method,
    base: `/api/${api}`,
    template,
    headers: credentials[api],
    documented: operation.body?.example,
    path,
    body: withShortLists(body),
  };
}

function withShortLists(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, 1).map(withShortLists);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortLists(each)]));
}

export type Example = Awaited<ReturnType<typeof exampleOf>>;

/** The example's value at the place, or the documented example's if it has none. */
export const valueIn = ({ body, documented }: Example, { path }: Place): unknown =>
  valueAt(body, path) ?? valueAt(documented, path);

const valueAt = (value: unknown, path: string[]) =>
  path.reduce((now, name) => (now as Record<string, unknown> | undefined)?.[name], value);

/** Sends the example with another value at the place. Undefined omits the value. */
export function sendWith(service: Service, example: Example, place: Place, value: unknown): Promise<Outcome> {
  const headers: Record<string, string> = { ...example.headers };
  let { path, body } = example as { path: string; body?: unknown };
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (place.in === "body") body = withValue(body, example.documented, place.path, value);
  else if (place.in === "path") path = withSegment(example, place.name, text);
  else if (place.in === "query") path = withParameter(path, place.name, value === undefined ? value : text);
  else if (value !== undefined) headers[place.name] = text;
  return service.send(makeRequest(example.method, example.base + path, headers, JSON.stringify(body)));
}

/** Replaces a parameter of the query, or removes it. */
function withParameter(path: string, name: string, text: string | undefined): string {
  const [before = "", query = ""] = path.split("?");
  const others = query.split("&").filter((each) => each !== "" && each.split("=")[0] !== name);
  const parameters = text === undefined ? others : [...others, `${name}=${encoded(text)}`];
  return parameters.length > 0 ? `${before}?${parameters.join("&")}` : before;
}

function withSegment({ path, template }: Example, name: string, text: string): string {
  const segments = path.split("/");
  segments[template.split("/").indexOf(`{${name}}`)] = encoded(text);
  return segments.join("/");
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

/** A copy with this value replaced. Missing objects and lists on the path are taken from the documented example. */
function withValue(value: unknown, documented: unknown, [name, ...rest]: string[], by: unknown): unknown {
  if (name === undefined) return by;
  const around = (value ?? documented ?? (name === "0" ? [] : {})) as Record<string, unknown>;
  const changed = withValue(around[name], valueAt(documented, [name]), rest, by);
  return Array.isArray(around) ? [changed] : { ...around, [name]: changed };
}
