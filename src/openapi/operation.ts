import * as z from "zod";
import { MAX_PAGE, MAX_PER_PAGE } from "../limits.ts";

/**
 * What the reference says about a route and the route's code does not. Parameters, body and the common refusals come
 * from the route itself.
 */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  status: 200 | 201 | 204;
  /** The shape of the response, with an example. Left out if the response has no body. */
  response?: { schema: z.ZodType; example: unknown };
  /** An example of a body that the route accepts. */
  requestExample?: unknown;
  /** The body of a route that takes any JSON: what it uses of it. */
  body?: { schema: z.ZodType; mediaType: string; example: unknown };
  /** Headers that only this response has, each with its description. */
  headers?: Record<string, string>;
  /** The refusals of this route, with their reasons. */
  refusals?: Partial<Record<401 | 404 | 409 | 422 | 503, string>>;
}

/** What the service sends to the URLs of organizations. */
export interface WebhookReference {
  operationId: string;
  summary: string;
  description: string;
  /** The shape of the body, with an example. */
  schema: z.ZodType;
  example: unknown;
}

/** What the reference says about one resource. */
export interface Reference {
  /** The heading above the operations. */
  tag: string;
  description: string;
  /** Wire shapes by their names in the document, with the meaning of each field. */
  schemas?: Record<string, { schema: z.ZodObject; description: string; fields: Record<string, string> }>;
  /** By method and pattern, as the routes are registered. */
  external?: Record<string, Operation>;
  platform?: Record<string, Operation>;
  livekit?: Record<string, Operation>;
  /** By type. Both documents have them. */
  webhooks?: Record<string, WebhookReference>;
}

const paginationSchema = z
  .object({
    current_page: z.int().min(1).max(MAX_PAGE),
    per_page: z.int().min(1).max(MAX_PER_PAGE),
    total_pages: z.int(),
    total_count: z.int(),
  })
  .meta({ id: "Pagination", description: "The position of a page in its list." });

/** Reports are merged with the stored row. That fails if the row keeps changing meanwhile. */
export const busy =
  "Many requests change the same record at the same time. `Retry-After` says when to try again.";

export const paginationExample = { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 };

/** The shape of a page of a list. */
export const pageOf = (key: string, schema: z.ZodType) =>
  z.object({ [key]: z.array(schema).max(MAX_PER_PAGE), pagination: paginationSchema });
