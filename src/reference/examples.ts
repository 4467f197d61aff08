import slugify from "@sindresorhus/slugify";
import type * as z from "zod";
import { explainIssues } from "../http/validation.ts";
import type { Examples, WithExamples } from "../openapi/operation.ts";

/** The examples by what they show; one that stands alone has no name. */
export const examplesOf = (given: WithExamples): Examples =>
  "examples" in given ? given.examples : { "": given.example };

/** @throws Error for an example that does not match its schema */
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

/** Examples as a document has them: `example`, or named `examples`. */
export function exampleFields(given: WithExamples) {
  if ("example" in given) return { example: given.example };
  const named = Object.entries(given.examples).map(
    ([summary, value]) => [slugify(summary), { summary, value }] as const,
  );
  return { examples: Object.fromEntries(named) };
}

/** Examples of errors: each text shows itself. */
export const errorExamples = (texts: readonly string[]) =>
  exampleFields({ examples: Object.fromEntries(texts.map((error) => [error, { error }])) });
