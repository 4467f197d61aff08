import { newHono } from "../../http/hono.ts";
import { PUBLIC_KEYS_KEPT_FOR } from "../../lifetimes.ts";
import { readSettings } from "../../settings.ts";
import { publishedKeys } from "./access_log_seals.keys.ts";

/** The public keys of the seals as a JWK Set (RFC 7517), without authentication. */
export const wellKnown = newHono<{ Bindings: Env }>().get("/jwks.json", async (c) => {
  const keys = await publishedKeys(readSettings(c.env));
  c.header("Cache-Control", `public, max-age=${PUBLIC_KEYS_KEPT_FOR}`);
  return c.json({ keys });
});
