import { PUBLIC_KEYS_KEPT_FOR } from "../lifetimes.ts";
import { publishedKeys } from "../resources/access_log_seals/access_log_seals.keys.ts";
import { readSettings } from "../settings.ts";
import { newHono } from "./hono.ts";

/** For everybody: the public keys of the seals, as a JWK Set (RFC 7517). */
export const wellKnown = newHono<{ Bindings: Env }>().get("/jwks.json", async (c) => {
  const keys = await publishedKeys(readSettings(c.env));
  c.header("Cache-Control", `public, max-age=${PUBLIC_KEYS_KEPT_FOR}`);
  return c.json({ keys });
});
