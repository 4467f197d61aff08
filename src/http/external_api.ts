import type { ClientContext } from "../context.ts";
import { type ApiEnv, newHono } from "./hono.ts";

export type ExternalEnv = ApiEnv<ClientContext>;

export const externalRoutes = () => newHono<ExternalEnv>();
