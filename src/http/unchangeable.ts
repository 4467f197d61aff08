import type * as z from "zod";
import type { Context } from "../context.ts";
import { type ApiError, unprocessable } from "./errors.ts";

/*
 * Callers send back most of what they read, so a PUT ignores the fields that it does not change. But another value in such a field is
 * a wish, which must not be ignored with 200. Fields that the service counts or stamps change between reading and writing, so
 * their values mean nothing.
 */

/** Fields that a response shows, or a creation takes, and an update does not change: for each, where it can be changed. */
export type Unchangeable = Record<string, string>;

/** What a body says of such fields, for `requireUnchanged`. */
export interface SentFields {
  wrapper: string;
  fields: Record<string, unknown>;
  advice: Unchangeable;
}

/** The key of a body under which the resource is. */
export const wrapperOf = (schema: z.ZodType): string => Object.keys((schema as z.ZodObject).shape)[0] ?? "";

export function sentFields(schema: z.ZodType, body: unknown, advice: Unchangeable): SentFields {
  const wrapper = wrapperOf(schema);
  return { wrapper, fields: (body as Record<string, SentFields["fields"]>)[wrapper] ?? {}, advice };
}

const notChangeable = (field: string, advice: string): ApiError =>
  unprocessable("field_not_changeable", `${field}: cannot be changed here; ${advice}`);

/** For the reference. */
export const unchangeableErrors = (schema: z.ZodType, advice: Unchangeable): ApiError[] =>
  Object.entries(advice).map(([name, where]) => notChangeable(`${wrapperOf(schema)}.${name}`, where));

/**
 * @param shown the present values of the fields; undefined if every value is refused
 * @throws ApiError 422 if the body has another value
 */
export function requireUnchanged<Shown extends object>({ sent }: Context, shown: Shown): void {
  for (const [name, where] of Object.entries(sent?.advice ?? {}))
    if (sent && name in shown && !agree(sent.fields[name], shown[name as keyof Shown]))
      throw notChangeable(`${sent.wrapper}.${name}`, where);
}

/** Missing fields and null count as left out. Items of a list are found by their ids, and times can have any time zone. */
function agree(sent: unknown, shown: unknown): boolean {
  if (sent === undefined || sent === null || sent === shown) return true;
  if (Array.isArray(sent) && Array.isArray(shown)) {
    const byId = new Map(shown.map((item) => [item.id, item]));
    return sent.every((item) => agree(item, byId.get(item?.id)));
  }
  if (typeof sent === "object" && typeof shown === "object" && shown !== null)
    return Object.entries(shown).every(([name, value]) =>
      agree((sent as typeof shown)[name as never], value),
    );
  return isTime(sent) && isTime(shown) && Date.parse(sent) === Date.parse(shown);
}

const isTime = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d[Tt]/.test(value);
