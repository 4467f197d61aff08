/** The schemas of requests, from the published documents, so that tests find a new route or field by themselves. */

import { API_NAMES } from "../../../src/reference/apis.ts";
import type { Schema as JsonSchema, Parameter } from "../../../src/reference/site/openapi.ts";
import { documentOf, examplesOf, resolved } from "./documents.ts";
import type { Api } from "./service_in_memory.ts";

export type { JsonSchema };

export interface Operation {
  api: Api;
  method: string;
  /** After the base path of the API, with parameters in braces. */
  path: string;
  parameters: Parameter[];
  body?: { schema: JsonSchema; example: unknown };
}

export const documentedOperations = API_NAMES.flatMap((api) => {
  const document = documentOf(api);
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]): Operation => {
      const [media] = Object.values(requestBody?.content ?? {});
      const body = media && {
        schema: inlined(document, resolved(document, media.schema)),
        example: examplesOf(media)[0],
      };
      return {
        api,
        method: method.toUpperCase(),
        path,
        parameters,
        ...(body ? { body } : {}),
      };
    }),
  );
});

/** The schema with every reference replaced by its target. */
function inlined<Part>(document: ReturnType<typeof documentOf>, part: Part): Part {
  if (Array.isArray(part)) return part.map((each) => inlined(document, each)) as Part;
  if (typeof part !== "object" || part === null) return part;
  const schema = "$ref" in part ? resolved(document, part) : part;
  return Object.fromEntries(
    Object.entries(schema).map(([name, each]) => [name, inlined(document, each)]),
  ) as Part;
}

/** A value in a body. A `*` in its path means each element of a list. */
export interface Node {
  path: string[];
  schema: JsonSchema;
}

export function nodesOf(schema: JsonSchema, path: string[] = []): Node[] {
  if (schema.$ref) throw new Error(`${path.join(".")} refers to ${schema.$ref}: look it up here`);
  return [
    { path, schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => nodesOf(each, [...path, name])),
    ...(schema.items ? nodesOf(schema.items, [...path, "*"]) : []),
    ...(schema.anyOf ?? []).flatMap((each) => nodesOf(each, path)),
  ];
}

export const isOf = ({ type }: JsonSchema, wanted: string) => [type].flat().includes(wanted);
