import { createMiddleware } from "hono/factory";
import { readSettings } from "../settings.ts";
import { ApiError } from "./errors.ts";

export const httpsRequired = () => new ApiError(403, "https_required", "Use HTTPS");

/** Refuses plain HTTP before reading anything, so that nobody gets used to sending credentials that way. */
export const httpsOnly = createMiddleware<{ Bindings: Env }>(async (c, next) => {
  const { protocol, hostname } = new URL(c.req.url);
  if (protocol === "http:" && !isLoopback(hostname) && readSettings(c.env).ALLOW_HTTP !== "true")
    throw httpsRequired();
  await next();
});

/** True for names of the machine itself. Takes the host as `URL` normalizes it: `127.1` becomes `127.0.0.1`. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
