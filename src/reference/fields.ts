import * as z from "zod";
import type { Fields } from "../openapi/operation.ts";

type Json = Record<string, unknown>;

/**
 * Adds a description to each field in the schema of a request body.
 *
 * @param own the operation's own descriptions, which override all others
 * @param response the response's schema, whose descriptions are used for fields without one
 * @param where the operation's name, for errors
 * @throws Error if `own` describes a field that the body does not have
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

  /** A request body wraps its fields in one key, but a response does not. */
  function ofResponse(path: string) {
    const [, ...unwrapped] = path.split(".");
    return unwrapped.length === 0 ? response?.description : responseMeanings[unwrapped.join(".")];
  }
}

/** The description of each field of a schema, by its path. The items of a list have the list's path. */
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
