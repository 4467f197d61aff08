import * as z from "zod";
import { ApiError } from "../http/errors.ts";
import { MAX_POSITION_LENGTH, NO_POSITION, POSITION } from "../http/pagination.ts";
import { count } from "../http/wire.ts";
import { DEFAULT_PER_PAGE, MAX_PAGE, MAX_PER_PAGE } from "../limits.ts";

/** Examples by what they show. The first is what readers see first. */
export type Examples = Record<string, unknown>;

/** One example, or several. */
export type WithExamples = { example: unknown } | { examples: Examples };

/** The meaning of each field of a body, by its path: `waiting_room.name`. The items of a list have the list's path. */
export type Fields = Record<string, string>;

export interface Parameter {
  description: string;
  example: string | number | boolean;
}

/** Statuses of refusals that are not common to all operations of an API. */
type RefusalStatus = 400 | 401 | 404 | 409 | 422 | 503;

/**
 * What the reference says about a route and the route's code does not. Parameters, body and the common refusals come
 * from the route itself.
 */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  /** Left out: 201 for a POST, 204 for a DELETE, otherwise 200. */
  status?: 200 | 202;
  /** Parameters that mean something else than in most operations. */
  parameters?: Record<string, Parameter>;
  /** The shape of the response, whose fields have descriptions. Left out if the response has no body. */
  response?: { schema: z.ZodType } & WithExamples;
  /** The same in other media types than JSON. */
  alternatives?: Record<string, { schema: z.ZodType } & WithExamples>;
  /**
   * Examples of a body that the route accepts, and what is to be said of its fields here. The meaning of a field stands
   * with its schema, or with that of the same field in the response.
   */
  request?: { fields?: Fields } & WithExamples;
  /** The body of a route that takes any JSON: what it uses of it. */
  body?: { schema: z.ZodType; mediaType: string } & WithExamples;
  /** Headers that only this response has. */
  headers?: Record<string, Header>;
  /** Why this route refuses, where its errors do not say enough. */
  refusals?: Partial<Record<RefusalStatus, string>>;
  /** This route's errors, as they are thrown. Faults that any field can have stand in error_texts.ts. */
  errors?: ApiError[];
}

/** A header of a response. */
export interface Header {
  description: string;
  example: string | number;
  schema: z.ZodType;
  /** Whether it is never absent from a response that has it in the document. */
  required?: true;
}

/** Of a response that comes as JSON or in another form. */
export const VARY_ACCEPT: Record<string, Header> = {
  Vary: {
    description: "The response depends on this header of the request.",
    required: true,
    example: "Accept",
    schema: z.literal("Accept"),
  },
};

/** Why an operation that is only for administrators refuses others. */
export const FOR_ADMINISTRATORS = { 404: "The client does not act as an organization_admin." };

/** The same, where there is more in the path than its own organization. */
export const FOR_ADMINISTRATORS_WHO_REACH_IT = {
  404: "Something in the path does not exist, or the client does not act as an organization_admin.",
};

/** What the service sends to the URLs of organizations. */
export interface WebhookReference {
  operationId: string;
  summary: string;
  description: string;
  /** The shape of the body, whose fields have descriptions, with an example. */
  schema: z.ZodType;
  example: unknown;
}

/** What the reference says about one resource. */
export interface Reference {
  /** The heading above the operations. */
  tag: string;
  description: string;
  /** By method and pattern, as the routes are registered. */
  external?: Record<string, Operation>;
  platform?: Record<string, Operation>;
  livekit?: Record<string, Operation>;
  /** By type. They are for organizations, so the document of the external API has them. */
  webhooks?: Record<string, WebhookReference>;
}

const paginationSchema = z
  .object({
    current_page: z.int().min(1).max(MAX_PAGE).describe("The number of this page. The first is 1."),
    per_page: z.int().min(1).max(MAX_PER_PAGE).describe("The number of items on a full page."),
    total_pages: count().describe("The number of pages; 0 for an empty list."),
    total_count: count().describe("The number of items in the whole list."),
  })
  .meta({ id: "Pagination", description: "The position of a page in its list." });

const pagination = (total_count: number, current_page = 1) => ({
  current_page,
  per_page: DEFAULT_PER_PAGE,
  total_pages: Math.ceil(total_count / DEFAULT_PER_PAGE),
  total_count,
});

/**
 * The response of a list in pages.
 *
 * @param examples the items of each; they fit on one page
 * @param total the length of the list of which another example shows a page past the end
 */
export const pageResponse = (
  key: string,
  schema: z.ZodType,
  examples: Record<string, unknown[]>,
  total?: number,
) => ({
  schema: z.object({
    [key]: z.array(schema).max(MAX_PER_PAGE).describe("The items of this page, in the order of the list."),
    pagination: paginationSchema,
  }),
  examples: {
    ...Object.fromEntries(
      Object.entries(examples).map(([name, items]) => [
        name,
        { [key]: items, pagination: pagination(items.length) },
      ]),
    ),
    ...(total && { "A page past the end": { [key]: [], pagination: pagination(total, 2) } }),
  },
});

/**
 * The response of a list that goes by `after`, in the order of a time.
 *
 * @param examples the items of each, and its `next_after`
 */
export const afterResponse = (
  key: string,
  schema: z.ZodType,
  examples: Record<string, [items: unknown[], next_after: string | null]>,
) => ({
  schema: z.object({
    [key]: z.array(schema).max(MAX_PER_PAGE).describe("The next items of the list, in its order."),
    next_after: z
      .string()
      .regex(POSITION)
      .max(MAX_POSITION_LENGTH)
      .nullable()
      .describe("The `after` of the next request; null at the end."),
  }),
  examples: Object.fromEntries(
    Object.entries(examples).map(([name, [items, next_after]]) => [name, { [key]: items, next_after }]),
  ),
});

/** The `after` of such a list. */
export const afterPosition = (example: string): Parameter => ({
  description:
    "Where to continue: the `next_after` of the previous response. Without it, the list begins at its start.",
  example,
});

export const noPosition = () => new ApiError(400, `after: ${NO_POSITION}`);
