import type { Group } from "../references.ts";

/** The JSON Schema keywords that the pages show. The documents use no others (see `requireKnown` in fields.ts). */
export type Schema = {
  $ref?: string;
  additionalProperties?: Schema | false;
  anyOf?: Schema[];
  const?: unknown;
  default?: unknown;
  description?: string;
  enum?: unknown[];
  examples?: unknown[];
  format?: string;
  items?: Schema;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
  maximum?: number;
  minItems?: number;
  minLength?: number;
  minimum?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  type?: string | string[];
};

export type Header = {
  $ref?: string;
  description?: string;
  required?: boolean;
  example?: unknown;
  schema: Schema;
};

export interface Parameter extends Omit<Header, "$ref"> {
  in: "path" | "query" | "header";
  name: string;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface Response {
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, Media>;
}

export const scopeOfOperation = ({ security = [] }: Operation): string | undefined =>
  security.flatMap(({ clientId = [] }) => clientId)[0];

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  "x-required-roles"?: string[];
  "x-limits"?: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Record<string, Media> };
  responses: Record<string, Response>;
}

type SecurityScheme = { type: string; name?: string; description: string };

/** The part of `buildDocument`'s result that the pages and the client package use. */
export interface Document {
  info: { version: string };
  tags: { name: string; description: string }[];
  "x-tagGroups": { name: Group; tags: string[] }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

/** A document, and the page that describes each of its named schemas, such as `/external/reference/invites#invite`. */
export type Linked = Document & { links: Map<string, string> };

export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);

export function resolved(schema: Schema, { components }: Document): Schema {
  if (!schema.$ref) return schema;
  const found = components.schemas[nameIn(schema.$ref)];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return found;
}

export const isSuccess = ([status]: [status: string, ...unknown[]]) => status < "300";

export const examplesOf = ({ example, examples }: Media): { summary?: string; value: unknown }[] =>
  examples ? Object.values(examples) : example === undefined ? [] : [{ value: example }];
