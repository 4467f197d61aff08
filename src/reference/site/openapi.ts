/** What the pages show of a JSON schema. The documents have no other keywords (see `requireKnown` in fields.ts). */
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

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Record<string, Media> };
  responses: Record<string, Response>;
}

type SecurityScheme = {
  type: string;
  name?: string;
  description: string;
};

/** What `buildDocument` makes, as far as pages show it, and the client package needs it. */
export interface Document {
  info: { version: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

/** The examples of a body, with the summary of each that has one. */
export const examplesOf = ({ example, examples }: Media): { summary?: string; value: unknown }[] =>
  examples ? Object.values(examples) : example === undefined ? [] : [{ value: example }];
