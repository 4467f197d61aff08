/** What requests may carry, from the published documents: so a new route or field is found without being listed. */

import { API_NAMES } from "../../../src/reference/apis.ts";
import type { Schema as JsonSchema, Parameter } from "../../../src/reference/site/openapi.ts";
import { documentOf, examplesOf, resolved } from "./documents.ts";
import type { Api } from "./service_in_memory.ts";

export type { JsonSchema };

export interface Operation {
  api: Api;
  method: string;
  /** With parameters in braces, after the base path of the API. */
  path: string;
  parameters: Parameter[];
  body?: { schema: JsonSchema; example: unknown };
}

/** Every operation of all APIs. */
export const documentedOperations = API_NAMES.flatMap((api) => {
  const document = documentOf(api);
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]): Operation => {
      const [media] = Object.values(requestBody?.content ?? {});
      const body = media && { schema: resolved(document, media.schema), example: examplesOf(media)[0] };
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

/** A value somewhere in a body: `*` in its path stands for each element of a list. */
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
