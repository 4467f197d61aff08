import * as z from "zod";
import { externalRoutes } from "../../http/hono.ts";
import { adminArea } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { externalReference, flag } from "../../http/wire.ts";
import type { erasureSchema } from "./erasures.responses.ts";
import { erasePortion } from "./erasures.service.ts";

const erasureQuery = () => z.object({ external_reference: externalReference(), texts: flag() });

const toErasure = (row: z.input<typeof erasureSchema>): z.input<typeof erasureSchema> => ({
  erased_count: row.erased_count,
  held_count: row.held_count,
  ongoing_count: row.ongoing_count,
  remaining_count: row.remaining_count,
});

export const erasuresExternal = externalRoutes().delete(
  "/participants",
  adminArea("results"),
  query(erasureQuery),
  async (c) => c.json(toErasure(await erasePortion(c.var.context, c.req.valid("query")))),
);
