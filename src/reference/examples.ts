import slugify from "@sindresorhus/slugify";
import type * as z from "zod";
import type { ApiError } from "../http/errors.ts";
import { explainIssues } from "../http/validation.ts";
import type { Examples, WithExamples } from "../openapi/operation.ts";

/** The examples by their names. A single example has an empty name. */
export const examplesOf = (given: WithExamples): Examples =>
  "examples" in given ? given.examples : { "": given.example };

export function requireExamplesToMatch(
  where: string,
  { schema, ...given }: { schema: z.ZodType } & WithExamples,
) {
  for (const [name, example] of Object.entries(examplesOf(given))) {
    const { error } = schema.safeParse(example);
    if (error)
      throw new Error(
        `${where}: the example ${name && `"${name}" `}does not match its schema: ${explainIssues(error.issues)}`,
      );
  }
}

/** The examples in OpenAPI's form: `example`, or named `examples`. */
export function exampleFields(given: WithExamples) {
  if ("example" in given) return { example: given.example };
  const named = Object.entries(given.examples).map(
    ([summary, value]) => [slugify(summary), { summary, value }] as const,
  );
  return { examples: Object.fromEntries(named) };
}

export const errorExamples = (errors: readonly ApiError[]) => ({
  examples: Object.fromEntries(
    errors.map(({ code, message: error }) => [slugify(error), { summary: code, value: { error } }]),
  ),
});
