import { createMiddleware } from "hono/factory";
import { readSettings } from "../settings.ts";
import { ApiError } from "./errors.ts";
import { isLoopback } from "./loopback.ts";

export const httpsRequired = () =>
  new ApiError(403, "https_required", "Use HTTPS, and replace the credentials: they were sent unencrypted");

/** Refuses plain HTTP before reading anything, so that nobody gets used to sending credentials that way. */
export const httpsOnly = createMiddleware<{ Bindings: Env }>(async (c, next) => {
  const { protocol, hostname } = new URL(c.req.url);
  if (protocol === "http:" && !isLoopback(hostname) && readSettings(c.env).ALLOW_HTTP !== "true")
    throw httpsRequired();
  await next();
});
