import * as z from "zod";
import type { ApiError } from "../http/errors.ts";
import { MAX_POSITION_LENGTH, POSITION } from "../http/pagination.ts";
import { count } from "../http/wire.ts";
import { DEFAULT_PER_PAGE, MAX_PAGE, MAX_PER_PAGE } from "../limits.ts";
import { field, named } from "../openapi/schemas.ts";
import { exampleOf } from "./examples.ts";

/** Examples by title. Readers see the first one first. */
export type Examples = Record<string, unknown>;

/** By default, one example is built from those of the fields. Others are for what it does not show. */
export interface WithExamples {
  example?: unknown;
  examples?: Examples;
}

/** The meaning of each field of a body by its path, such as `waiting_room.name`. Items have the path of their list. */
export type Fields = Record<string, string>;

export interface Parameter {
  description: string;
  example: string | number | boolean;
}

/** Statuses of refusals that are not common to all operations of an API. */
type RefusalStatus = 400 | 401 | 404 | 409 | 422 | 503;

/** Facts for the reference that the route's code lacks. Parameters, body and common refusals come from the route itself. */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  /** By default, 201 for a POST, 204 for a DELETE, otherwise 200. */
  status?: 200 | 202;
  /** Parameters whose meaning differs from that in most operations. */
  parameters?: Record<string, Parameter>;
  /** The shape of the response, with a description of each field. Undefined if the response has no body. */
  response?: { schema: z.ZodType } & WithExamples;
  /** The response in media types other than JSON. */
  alternatives?: Record<string, { schema: z.ZodType } & WithExamples>;
  /**
   * Notes on the fields of the body that apply only here, and examples: by default, the fields of the response's first
   * example that the route accepts. The meaning of a field is in its schema, or in the schema of the same field in the
   * response.
   */
  request?: { fields?: Fields } & WithExamples;
  /** The part of the body that the route uses, if the body may be any JSON. */
  body?: { schema: z.ZodType; mediaType: string } & WithExamples;
  /** Headers that only this response has. */
  headers?: Record<string, Header>;
  /** Why this route refuses a request, if its errors do not explain it. */
  refusals?: Partial<Record<RefusalStatus, string>>;
  /** The errors that this route throws. Problems that any field can have are in reference/faults.md. */
  errors?: ApiError[];
}

export interface Header {
  description: string;
  example: string | number;
  schema: z.ZodType;
  /** Whether every response documented with this header has it. */
  required?: true;
}

/** The header of responses with a resource that a PUT or DELETE with `If-Match` can change. */
export const ETAG: Record<string, Header> = {
  ETag: {
    description:
      "The version of the resource. A PUT or DELETE with it as `If-Match` changes no other version.",
    required: true,
    example: '"7-1769852000000-0"',
    schema: z
      .string()
      .max(60)
      .regex(/^"\d+-\d+-\d+"$/),
  },
};

/** For a response that comes as JSON or in another format. */
export const VARY_ACCEPT: Record<string, Header> = {
  Vary: {
    description: "The response depends on this header of the request.",
    required: true,
    example: "Accept",
    schema: z.literal("Accept"),
  },
};

/** A message that the service sends to the webhook endpoints of organizations. */
export interface WebhookReference extends WithExamples {
  operationId: string;
  summary: string;
  description: string;
  schema: z.ZodType;
}

export interface Reference {
  /** The heading above the operations. */
  tag: string;
  description: string;
  /** The parameters that mean the same in all operations of this tag. */
  parameters?: Record<string, Parameter>;
  /** By method and pattern, as the routes are registered. */
  external?: Record<string, Operation>;
  platform?: Record<string, Operation>;
  livekit?: Record<string, Operation>;
  /** By type. The external API's document includes them, because they are sent to organizations. */
  webhooks?: Record<string, WebhookReference>;
}

const paginationSchema = named("Pagination", "The position of a page in its list.", {
  current_page: field(z.int().min(1).max(MAX_PAGE), "The number of this page. The first is 1.", 1),
  per_page: field(z.int().min(1).max(MAX_PER_PAGE), "The number of items on a full page.", DEFAULT_PER_PAGE),
  total_pages: count().meta({ description: "The number of pages; 0 for an empty list.", example: 1 }),
  total_count: count().meta({ description: "The number of items in the whole list.", example: 1 }),
});

/**
 * The response of a paginated list.
 *
 * @param examples the items of each example, which fit on one page
 * @param total adds an example of a page past the end, of a list of this length
 */
export const pageResponse = (
  key: string,
  schema: z.ZodType,
  examples?: Record<string, unknown[]>,
  total?: number,
) => ({
  schema: z.object({
    [key]: z.array(schema).max(MAX_PER_PAGE).describe("The items of this page, in the order of the list."),
    pagination: paginationSchema,
  }),
  ...(examples && {
    examples: {
      ...Object.fromEntries(
        Object.entries(examples).map(([name, items]) => [
          name,
          { [key]: items, pagination: pagination(items.length) },
        ]),
      ),
      ...(total && { "A page past the end": { [key]: [], pagination: pagination(total, 2) } }),
    },
  }),
});

const pagination = (total_count: number, current_page = 1): z.input<typeof paginationSchema> => ({
  ...exampleOf(paginationSchema),
  current_page,
  total_pages: Math.ceil(total_count / DEFAULT_PER_PAGE),
  total_count,
});

/** The response of a short list, which is never paginated. */
export const listResponse = (key: string, schema: z.ZodType, description: string, max?: number) => {
  const items = z.array(schema);
  return { schema: z.object({ [key]: (max ? items.max(max) : items).describe(description) }) };
};

/** The response of a list ordered by time that continues with `after`. */
export const afterResponse = (key: string, schema: z.ZodType) => ({
  schema: z.object({
    [key]: z.array(schema).max(MAX_PER_PAGE).describe("The next items of the list, in its order."),
    next_after: z
      .string()
      .regex(POSITION)
      .max(MAX_POSITION_LENGTH)
      .nullable()
      .describe("The `after` of the next request; null at the end."),
  }),
});

/** The parameters of a list by date. */
export const dates = (things: string): Record<"from" | "to", Parameter> => ({
  from: { description: `Only ${things} on this date (UTC) or later.`, example: "2026-01-31" },
  to: {
    description: `Only ${things} on this date (UTC) or earlier. It must not be before \`from\`.`,
    example: "2026-02-28",
  },
});

export const afterPosition = (example: string): Parameter => ({
  description:
    "Where to continue: the `next_after` of the previous response. Without it, the list begins at its start.",
  example,
});
