import { readFileSync } from "node:fs";
import type { Document, Media, Operation } from "../../../src/reference/site/openapi.ts";

export type { Document, Operation };

export type Json = Record<string, unknown>;

/** A document as it is published: its pages do not show all of it. */
interface Published extends Document {
  servers: Json[];
  security: Json[];
}

/** The published document of an API: `npm run build` makes it. */
export const documentOf = (api: string): Published =>
  JSON.parse(readFileSync(`dist/public/api/${api}/openapi.json`, "utf8"));

/** What the service takes and sends: the operations of the API, and the webhooks. */
export const operationsOf = ({ paths, webhooks = {} }: Pick<Document, "paths" | "webhooks">): Operation[] =>
  [...Object.values(paths), ...Object.values(webhooks)].flatMap((each) => Object.values(each));

/** A schema, or what it refers to. */
export function resolved(document: Document, schema: Json): Json {
  const { $ref, ...more } = schema as { $ref?: string };
  if (!$ref) return schema;
  const [, , kind = "", name = ""] = $ref.split("/");
  const found = (document.components as Record<string, Record<string, Json>>)[kind]?.[name];
  if (!found) throw new Error(`The document has no ${$ref}`);
  return { ...found, ...more };
}

/** Every field of a schema, with its path; those of what it refers to, too. */
export function fieldsOf(
  document: Document,
  schema: Json,
  path: string[] = [],
): { path: string; field: Json }[] {
  const { properties, items, anyOf, additionalProperties } = resolved(document, schema) as Record<
    string,
    never
  >;
  const parts = [items, additionalProperties, ...((anyOf ?? []) as Json[])].filter(
    (part) => typeof part === "object",
  );
  return [
    ...parts.flatMap((part) => fieldsOf(document, part, path)),
    ...Object.entries((properties ?? {}) as Record<string, Json>).flatMap(([name, field]) => [
      { path: [...path, name].join("."), field: resolved(document, field) },
      ...fieldsOf(document, field, [...path, name]),
    ]),
  ];
}

/** The examples of a body or a parameter. */
export const examplesOf = ({ example, examples = {} }: Pick<Media, "example" | "examples">): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

/** Every body that an operation takes or sends, with where it stands. */
export function bodiesOf({ operationId, requestBody, responses }: Operation): [where: string, Media][] {
  const request = Object.values(requestBody?.content ?? {}).map((media) => [`${operationId} request`, media]);
  const answers = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content).map((media) => [`${operationId} ${status}`, media]),
  );
  return [...request, ...answers] as [string, Media][];
}

/** Every object in a value, and so every schema of a document, with the words of its path. */
export function* objectsIn(value: unknown, path: string[] = []): Generator<{ path: string; object: Json }> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield { path: path.join(" "), object: value as Json };
  for (const [name, each] of Object.entries(value)) yield* objectsIn(each, [...path, name]);
}
