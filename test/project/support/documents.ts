import { readFileSync } from "node:fs";
import type { Document, Media, Operation } from "../../../src/reference/site/openapi.ts";

export type { Document, Operation };

export type Json = Record<string, unknown>;

/** A published document. Its pages do not show all of it. */
interface Published extends Document {
  servers: Json[];
  security: Json[];
}

/** The published document of an API, from `npm run build`. */
export const documentOf = (api: string): Published =>
  JSON.parse(readFileSync(`dist/public/api/${api}/openapi.json`, "utf8"));

/** The operations and webhooks of an API. */
export const operationsOf = ({ paths, webhooks = {} }: Pick<Document, "paths" | "webhooks">): Operation[] =>
  [...Object.values(paths), ...Object.values(webhooks)].flatMap((each) => Object.values(each));

export function resolved(document: Document, schema: Json): Json {
  const { $ref, ...more } = schema as { $ref?: string };
  if (!$ref) return schema;
  const [, , kind = "", name = ""] = $ref.split("/");
  const found = (document.components as Record<string, Record<string, Json>>)[kind]?.[name];
  if (!found) throw new Error(`The document has no ${$ref}`);
  return { ...found, ...more };
}

/** Every field of a schema with its path, including the fields of schemas that it refers to. */
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

export const examplesOf = ({ example, examples = {} }: Pick<Media, "example" | "examples">): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

/** Every body that an operation accepts or sends, and where it occurs. */
export function bodiesOf({ operationId, requestBody, responses }: Operation): [where: string, Media][] {
  const request = Object.values(requestBody?.content ?? {}).map((media) => [`${operationId} request`, media]);
  const answers = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content).map((media) => [`${operationId} ${status}`, media]),
  );
  return [...request, ...answers] as [string, Media][];
}

/** Every object in a value, with the words of its path. In a document, these include every schema. */
export function* objectsIn(value: unknown, path: string[] = []): Generator<{ path: string; object: Json }> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield { path: path.join(" "), object: value as Json };
  for (const [name, each] of Object.entries(value)) yield* objectsIn(each, [...path, name]);
}
