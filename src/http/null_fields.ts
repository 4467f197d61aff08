import * as z from "zod";

type DropNulls = (value: unknown) => void;

/** So that values without such fields need not be walked. */
const dropNothing: DropNulls = () => {};

/** Removes null from optional fields that are not nullable: many clients send null for a field that they leave out. */
export function nullsDropper(schema: unknown): DropNulls {
  if (schema instanceof z.ZodObject) return dropperOfFields(schema.shape);
  if (schema instanceof z.ZodArray) {
    const drop = nullsDropper(schema.element);
    if (drop === dropNothing) return dropNothing;
    return (value) => {
      if (Array.isArray(value)) value.forEach(drop);
    };
  }
  if (schema instanceof z.ZodPipe) return nullsDropper(schema.in);
  return isWrapper(schema) ? nullsDropper(schema.unwrap()) : dropNothing;
}

function dropperOfFields(shape: Record<string, z.ZodType>): DropNulls {
  const leftOut = Object.keys(shape).filter((name) => meansLeftOut(shape[name] as z.ZodType));
  const nested = Object.entries(shape)
    .map(([name, field]) => [name, nullsDropper(field)] as const)
    .filter(([, drop]) => drop !== dropNothing);
  if (leftOut.length === 0 && nested.length === 0) return dropNothing;
  return (value) => {
    if (typeof value !== "object" || value === null) return;
    const fields = value as Record<string, unknown>;
    for (const name of leftOut) if (fields[name] === null) delete fields[name];
    for (const [name, drop] of nested) drop(fields[name]);
  };
}

/** False for a field that accepts no value (`z.never()`): it must not be present, not even with null. */
const meansLeftOut = (field: z.ZodType) =>
  field.isOptional() && !field.isNullable() && !(isWrapper(field) && field.unwrap() instanceof z.ZodNever);

const isWrapper = (schema: unknown) =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
