import { externalRoutes } from "../../http/hono.ts";
import { adminArea } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { erasureQuery, toErasure } from "./erasures.schemas.ts";
import { erasePortion } from "./erasures.service.ts";

export const erasuresExternal = externalRoutes().delete(
  "/participants",
  adminArea("results"),
  query(erasureQuery),
  async (c) => c.json(toErasure(await erasePortion(c.var.context, c.req.valid("query")))),
);
