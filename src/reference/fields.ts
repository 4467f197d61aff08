import * as z from "zod";
import type { Fields } from "../openapi/operation.ts";

type Json = Record<string, unknown>;

/**
 * Puts the meaning of each field into the schema of a body.
 *
 * @param own what the operation says of them: it counts before all else
 * @param response the shape of the response. A field of the body whose schema says nothing means what it means there
 * @param where the operation, for errors
 * @throws Error for a meaning of a field that there is not
 */
export function describeFields(schema: unknown, own: Fields, response: z.ZodType | undefined, where: string) {
  const described = new Set<string>();
  const responseMeanings = response ? meaningsOf(response) : {};
  visit(schema, "");
  const unknown = Object.keys(own).filter((path) => !described.has(path));
  if (unknown.length > 0) throw new Error(`${where} has no ${unknown.join(", ")}`);

  function visit(value: unknown, path: string) {
    if (typeof value !== "object" || value === null) return;
    const { properties, items, anyOf } = value as { properties?: Json; items?: unknown; anyOf?: unknown[] };
    visit(items, path);
    for (const each of anyOf ?? []) visit(each, path);
    for (const [name, property] of Object.entries(properties ?? {})) {
      const fieldPath = path === "" ? name : `${path}.${name}`;
      const field = property as Json;
      const description = own[fieldPath] ?? field.description ?? ofResponse(fieldPath);
      if (description) Object.assign(field, { description });
      described.add(fieldPath);
      visit(field, fieldPath);
    }
  }

  /** A body wraps in one key what the response shows without it. */
  function ofResponse(path: string) {
    const [, ...unwrapped] = path.split(".");
    return unwrapped.length === 0 ? response?.description : responseMeanings[unwrapped.join(".")];
  }
}

/** The meaning of each field of a shape, by its path; the items of a list have the list's path. */
function meaningsOf(schema: z.ZodType, path: string[] = []): Fields {
  if (schema instanceof z.ZodArray) return meaningsOf(schema.element as z.ZodType, path);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return meaningsOf(schema.unwrap() as z.ZodType, path);
  if (!(schema instanceof z.ZodObject)) return {};
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const fieldPath = [...path, name];
    return { [fieldPath.join(".")]: field.description ?? "", ...meaningsOf(field, fieldPath) };
  });
  return Object.assign({}, ...fields);
}
