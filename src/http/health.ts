import { Hono } from "hono";
import { ApiError } from "./errors.ts";

/** For monitoring: does the service run and reach its database? It takes no credentials and shows no details. */
export const health = new Hono<{ Bindings: Env }>().get("/", async (c) => {
  try {
    await c.env.DB.prepare("select 1").run();
  } catch {
    throw new ApiError(503, "The database cannot be reached", { reason: "database_unreachable" });
  }
  return c.json({ status: "ok" });
});
