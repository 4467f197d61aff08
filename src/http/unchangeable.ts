import * as z from "zod";
import type { Context } from "../context.ts";
import { type ApiError, unprocessable } from "./errors.ts";

/*
 * A PUT ignores the fields that it does not change, because callers send back what they read, but not another value in them.
 * Fields that the service counts or stamps may have changed since, so their values mean nothing.
 */

/** For each body of an update: where the fields that it does not change can be changed. */
export const unchangeable = z.registry<Record<string, string>>();

const notChangeable = (wrapper: string, name: string, advice: string): ApiError =>
  unprocessable("field_not_changeable", `${wrapper}.${name}: cannot be changed here; ${advice}`);

/** The key of a body under which the resource is. */
const wrapperOf = (schema: z.ZodType): string => Object.keys((schema as z.ZodObject).shape)[0] ?? "";

export const unchangeableErrors = (schema: z.ZodType): ApiError[] =>
  Object.entries(unchangeable.get(schema) ?? {}).map(([name, advice]) =>
    notChangeable(wrapperOf(schema), name, advice),
  );

/**
 * @param shown the present values; undefined if every value is refused
 * @throws ApiError 422 if the body has another value
 */
export function requireUnchanged<Shown extends object>({ sent }: Context, shown: Shown): void {
  if (!sent) return;
  const wrapper = wrapperOf(sent.schema);
  const fields = (sent.body as Record<string, Record<string, unknown>>)[wrapper] ?? {};
  for (const [name, advice] of Object.entries(unchangeable.get(sent.schema) ?? {}))
    if (name in shown && !agree(fields[name], shown[name as keyof Shown]))
      throw notChangeable(wrapper, name, advice);
}

/** Missing fields and null count as left out. Items of a list are found by their ids, and times can have any time zone. */
function agree(sent: unknown, shown: unknown): boolean {
  if (sent === undefined || sent === null || sent === shown) return true;
  if (Array.isArray(sent) && Array.isArray(shown)) {
    const byId = new Map(shown.map((item) => [item.id, item]));
    return sent.every((item) => !byId.has(item?.id) || agree(item, byId.get(item?.id)));
  }
  if (typeof sent === "object" && typeof shown === "object" && shown !== null)
    return Object.entries(shown).every(([name, value]) =>
      agree((sent as typeof shown)[name as never], value),
    );
  return isTime(sent) && isTime(shown) && Date.parse(sent) === Date.parse(shown);
}

const isTime = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d[Tt]/.test(value);
