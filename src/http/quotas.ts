import type { Context as HonoContext } from "hono";
import { QUOTAS, type Quota } from "../database/enums.ts";
import { declarationOf, declaring } from "./route_declarations.ts";

/** Declares that the requests of a route use a reserve: see usage.quotas.ts. A DELETE needs no declaration. */
export const inReserve = (name: "reserved" | "sign_ins") => declaring({ reserve: QUOTAS[name] });

export const quotaOf = (c: HonoContext): Quota =>
  c.req.method === "DELETE" ? QUOTAS.reserved : (declarationOf<Quota>(c, "reserve") ?? QUOTAS.ordinary);
