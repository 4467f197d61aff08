import type { Context as HonoContext } from "hono";
import { QUOTAS, type Quota } from "../database/enums.ts";
import { declarationOf, declaring } from "./route_declarations.ts";

export type Reserve = "sign_ins" | "others";

/** Declares that the requests of a route use a reserve: see usage.quotas.ts. A DELETE needs no declaration. */
export const inReserve = (reserve: Reserve) => declaring({ reserve });

export function quotaOf(c: HonoContext): Quota {
  const reserve = c.req.method === "DELETE" ? "others" : declarationOf<Reserve>(c, "reserve");
  return reserve === undefined ? QUOTAS.ordinary : reserve === "others" ? QUOTAS.reserved : QUOTAS.none;
}
