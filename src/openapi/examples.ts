import * as z from "zod";

/**
 * The example of a shape: those of its fields, which stand beside them (`.meta({ example })`, or the first of `examples`).
 *
 * @throws Error for a field without an example
 */
export function exampleOf<Schema extends z.ZodObject>(schema: Schema): z.input<Schema> {
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, field]) => [name, fieldExample(field, name)]),
  ) as z.input<Schema>;
}

function fieldExample(field: z.ZodType, name: string): unknown {
  const { example, examples } = field.meta() ?? {};
  if (example !== undefined) return example;
  if (Array.isArray(examples)) return examples[0];
  if (field instanceof z.ZodObject) return exampleOf(field);
  throw new Error(`The field ${name} has no example`);
}

/**
 * The example of a body whose wrapper holds fields of a response: those that the body can have, as the response shows
 * them.
 */
export function exampleBody(body: z.ZodObject, response: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body.shape)
      .filter(([, fields]) => fields instanceof z.ZodObject)
      .map(([wrapper, fields]) => [
        wrapper,
        Object.fromEntries(
          Object.entries((fields as z.ZodObject).shape as Record<string, z.ZodType>)
            .filter(([, field]) => !isRefused(field))
            .map(([name, field]) => [name, field.meta()?.example ?? response[name]])
            .filter(([, example]) => example !== undefined),
        ),
      ]),
  );
}

const isRefused = (field: z.ZodType) =>
  (field instanceof z.ZodOptional ? field.unwrap() : field) instanceof z.ZodNever;
