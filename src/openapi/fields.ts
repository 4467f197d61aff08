import type { Fields } from "./operation.ts";

type Json = Record<string, unknown>;

/**
 * Puts the meaning of each field into the schema of a body. It cannot stand with the schema itself: the Worker runs that,
 * and its bundle has no room for texts.
 *
 * @param fields by path, such as `waiting_room.name`; the items of a list have the list's path
 * @throws Error for a meaning of a field that there is not
 */
export function describeFields(schema: unknown, fields: Fields, where: string) {
  const described = new Set<string>();
  visit(schema, "");
  const unknown = Object.keys(fields).filter((path) => !described.has(path));
  if (unknown.length > 0) throw new Error(`${where} has no ${unknown.join(", ")}`);

  function visit(value: unknown, path: string) {
    if (typeof value !== "object" || value === null) return;
    const { properties, items, anyOf } = value as { properties?: Json; items?: unknown; anyOf?: unknown[] };
    visit(items, path);
    for (const each of anyOf ?? []) visit(each, path);
    for (const [name, property] of Object.entries(properties ?? {})) {
      const own = path === "" ? name : `${path}.${name}`;
      const description = fields[own];
      if (description) Object.assign(property as Json, { description });
      described.add(own);
      visit(property, own);
    }
  }
}
