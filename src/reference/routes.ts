import type * as z from "zod";
import { app } from "../app.ts";
import type { Role, Scope } from "../database/enums.ts";
import type { CostlyRequest } from "../http/costly_requests.ts";
import type { PartToken } from "../http/platform_tokens.ts";
import type { Reserve } from "../http/quotas.ts";
import { type Area, scopeOf } from "../http/scopes.ts";
import type { Input } from "../http/validation.ts";
import type { Api } from "./apis.ts";

/** The properties of a route that its middleware declares. */
export interface Route {
  inputs: Input[];
  limited?: CostlyRequest;
  isRecorded?: boolean;
  /** The scope that it needs; null if it needs none. */
  scope?: Scope | null;
  /** The roles of which the client's user needs one. Empty if every role opens it. */
  roles?: Role[];
  /** The tokens that it accepts in addition to `PLATFORM_API_TOKEN`. */
  tokens?: PartToken[];
  /** The reserve that it uses, if the daily quotas do not refuse it. */
  reserve?: Reserve;
  isConditional?: boolean;
}

/** The routes of an API, by method and pattern. */
export function routesOf(api: Api): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const { method, path, handler } of app.routes) {
    if (method === "ALL" || !path.startsWith(`/api/${api}/`)) continue;
    const route = `${method} ${path.slice(`/api/${api}`.length)}`;
    const known: Route = routes.get(route) ?? { inputs: [] };
    if ("input" in handler) known.inputs.push(handler.input as Input);
    if ("isRecorded" in handler) known.isRecorded = true;
    if ("reserve" in handler) known.reserve = handler.reserve as Reserve;
    if ("area" in handler) known.scope = scopeOf(handler.area as Area | null, method);
    if ("roles" in handler) known.roles = handler.roles as Role[];
    if ("openTo" in handler) known.tokens = handler.openTo as PartToken[];
    if ("isConditional" in handler) known.isConditional = true;
    if ("limited" in handler) known.limited = handler.limited as CostlyRequest;
    routes.set(route, known);
  }
  return routes;
}

export const inputOf = ({ inputs }: Route, target: Input["target"]): z.ZodType | undefined =>
  inputs.find((input) => input.target === target)?.schema();
