import * as z from "zod";
import { SET_UP_AT } from "./story.ts";

/**
 * The example of a value, built from the examples of its fields: `.meta({ example })`, or the first of `examples`. A field
 * without an example is null, false, 0 or the day on which the clinic was set up.
 *
 * @throws Error for a field without an example
 */
export function exampleOf<Schema extends z.ZodType>(schema: Schema, name = "body"): z.input<Schema> {
  const { example, examples } = schema.meta() ?? {};
  if (example !== undefined) return example as z.input<Schema>;
  if (Array.isArray(examples)) return examples[0] as z.input<Schema>;
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape as Shape).map(([field, its]) => [field, exampleOf(its, field)]),
    ) as z.input<Schema>;
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element as z.ZodType, name)] as z.input<Schema>;
  if (schema instanceof z.ZodNullable) return null as z.input<Schema>;
  if (schema instanceof z.ZodBoolean) return false as z.input<Schema>;
  if (schema instanceof z.ZodNumber) return 0 as z.input<Schema>;
  if (schema instanceof z.ZodISODateTime) return SET_UP_AT as z.input<Schema>;
  throw new Error(`The field ${name} has no example`);
}

type Shape = Record<string, z.ZodType>;

/**
 * The example of a request body, whose wrapper holds fields of a response: the fields that the body accepts, with the
 * values of the response.
 */
export function exampleBody(body: z.ZodObject, response: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body.shape)
      .filter(([, fields]) => fields instanceof z.ZodObject)
      .map(([wrapper, fields]) => [
        wrapper,
        Object.fromEntries(
          Object.entries((fields as z.ZodObject).shape as Shape)
            .filter(([, field]) => !isRefused(field))
            .map(([name, field]) => [name, field, field.meta()?.example ?? response[name]] as const)
            // Leaves out a null that the field does not accept.
            .filter(
              ([, field, example]) => example !== undefined && (example !== null || accepts(field, null)),
            )
            .map(([name, , example]) => [name, example]),
        ),
      ]),
  );
}

const accepts = (field: z.ZodType, value: unknown) => field.safeParse(value).success;

const isRefused = (field: z.ZodType) =>
  (field instanceof z.ZodOptional ? field.unwrap() : field) instanceof z.ZodNever;
