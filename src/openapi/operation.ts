import * as z from "zod";

/**
 * What the reference says of a route beyond what the route itself tells: its parameters and body are read off the
 * route, and so are the refusals that every request of its kind can meet.
 */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  status: 200 | 201 | 204;
  /** The shape of the answer, and one such answer; left out where the answer is empty. */
  response?: { schema: z.ZodType; example: unknown };
  /** One body that the route takes. */
  requestExample?: unknown;
  /** Headers of the answer beside those of every answer, and what they say. */
  headers?: Record<string, string>;
  /** Refusals of this route's own, and when they come. */
  refusals?: Partial<Record<401 | 404 | 422 | 503, string>>;
}

/** What the reference says of one resource. */
export interface Reference {
  /** The heading under which the operations stand. */
  tag: string;
  description: string;
  /** Wire shapes that are named, by the contract's resource names, with what each field means. */
  schemas?: Record<string, { schema: z.ZodObject; description: string; fields: Record<string, string> }>;
  /** By method and pattern, as the routes are registered. */
  external?: Record<string, Operation>;
  platform?: Record<string, Operation>;
}

const paginationSchema = z
  .object({ current_page: z.int(), per_page: z.int(), total_pages: z.int(), total_count: z.int() })
  .meta({ id: "Pagination", description: "Where a page stands in its list." });

export const paginationExample = { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 };

/** The shape of a list that is shown in pages. */
export const pageOf = (key: string, schema: z.ZodType) =>
  z.object({ [key]: z.array(schema), pagination: paginationSchema });
