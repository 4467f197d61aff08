import * as z from "zod";

/** A field with its meaning and its example, if all fit on one line. Otherwise, use `.meta()`. */
export const field = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.input<Schema>,
) => schema.meta({ description, example });

/** An object that the documents describe once, under this name. */
export const named = <Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description });
