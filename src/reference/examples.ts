import slugify from "@sindresorhus/slugify";
import type * as z from "zod";
import type { ApiError } from "../http/errors.ts";
import { explainIssues } from "../http/validation.ts";
import { exampleBody, exampleOf } from "../openapi/examples.ts";
import type { Examples, Operation, WithExamples } from "../openapi/operation.ts";

type Body = { schema: z.ZodType } & WithExamples;

/** The examples by their names. A single example has an empty name. */
export const examplesOf = ({ schema, example, examples }: Body): Examples =>
  examples ?? { "": example ?? exampleOf(schema) };

/** The request of an operation with the schema of its route's body. */
export function requestOf({ operationId, request, response }: Operation, schema: z.ZodType): Body {
  if (request?.example || request?.examples) return { schema, ...request };
  if (!response) throw new Error(`${operationId} takes a body, but its reference has no example`);
  const [answer] = Object.values(examplesOf(response));
  return { schema, example: exampleBody(schema as z.ZodObject, answer as Record<string, unknown>) };
}

export function requireExamplesToMatch(where: string, body: Body) {
  for (const [name, example] of Object.entries(examplesOf(body))) {
    const { error } = body.schema.safeParse(example);
    if (error)
      throw new Error(
        `${where}: the example ${name && `"${name}" `}does not match its schema: ${explainIssues(error.issues)}`,
      );
  }
}

/** The examples in OpenAPI's form: `example`, or named `examples`. */
export function exampleFields(body: Body) {
  const examples = Object.entries(examplesOf(body));
  if (!body.examples) return { example: examples[0]?.[1] };
  const named = examples.map(([summary, value]) => [slugify(summary), { summary, value }] as const);
  return { examples: Object.fromEntries(named) };
}

export const errorExamples = (errors: readonly ApiError[]) => ({
  examples: Object.fromEntries(
    errors.map(({ code, message: error }) => [slugify(error), { summary: code, value: { error } }]),
  ),
});
