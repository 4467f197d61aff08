import type { Context as HonoContext, Env as HonoEnv } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import type { ClientContext } from "../context.ts";

export interface ApiEnv<Context> {
  Bindings: Env;
  Variables: { context: Context };
}

/** Hono with a single router: the routers that its usual preset tries first are a fiftieth of the bundle. */
export const newHono = <E extends HonoEnv>() => new HonoBase<E>({ router: new TrieRouter() });

export type ExternalEnv = ApiEnv<ClientContext>;

export const externalRoutes = () => newHono<ExternalEnv>();

/** The response to a request whose verb returns nothing. */
export async function noContent(c: HonoContext, work: Promise<void>): Promise<Response> {
  await work;
  return c.body(null, 204);
}
