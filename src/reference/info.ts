import { readFileSync } from "node:fs";
import { join } from "node:path";
import { app } from "../app.ts";
import { MAX_RETRIES, TIMEOUT } from "../client/settings.ts";
import { SCOPES, type Scope } from "../database/enums.ts";
import { type Area, scopeOf } from "../http/scopes.ts";
import type { Input } from "../http/validation.ts";
import { APIS, type Api } from "./apis.ts";
import { faultsTable } from "./error_texts.ts";
import { configuration, EXAMPLE_URL, operator, readOperator } from "./operator.ts";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));

/** `npm run dev` sets the variable if it gets a port. */
export const developmentUrl = () => process.env.DEVELOPMENT_URL ?? "http://localhost:8787";

const OWN_CREDENTIALS = {
  CLIENT_ID: "your-client-id",
  CLIENT_SECRET: "your-client-secret",
  PLATFORM_API_TOKEN: "your-platform-token",
};

export interface Choices {
  /** The development credentials. With them, the pages do not show the operator's address, so that requests stay local. */
  development?: typeof OWN_CREDENTIALS;
  /** Variables of wrangler.toml with other values. */
  vars?: Record<string, string>;
}

export const operatorOf = ({ development, vars }: Choices) => ({
  ...(vars ? readOperator({ ...configuration.vars, ...vars }) : operator),
  ...(development && { url: undefined }),
});

function routesWithKey(): string {
  const routes = app.routes.filter(
    ({ path, handler }) =>
      path.startsWith("/api/external/") && "input" in handler && (handler.input as Input).target === "header",
  );
  const names = routes.map(
    ({ method, path }) => `\`${method} ${path.slice("/api/external".length).replace(/:(\w+)/g, "{$1}")}\``,
  );
  return new Intl.ListFormat("en-GB").format([...new Set(names)].sort());
}

function scopesTable(): string {
  const opened = new Map<Scope, Set<string>>();
  for (const { method, path, handler } of app.routes) {
    const scope = "area" in handler && scopeOf(handler.area as Area | null, method);
    if (!scope) continue;
    const route = `\`${method} ${path.slice("/api/external".length).replace(/:(\w+)/g, "{$1}")}\``;
    opened.set(scope, (opened.get(scope) ?? new Set()).add(route));
  }
  const rows = SCOPES.map((scope) => `| \`${scope}\` | ${[...(opened.get(scope) ?? [])].join("<br>")} |`);
  return ["| Scope | Requests |", "| --- | --- |", ...rows].join("\n");
}

/** The values for `{{NAME}}` in the guides, in addition to limits and lifetimes. */
export function guideValues(choices: Choices = {}) {
  const { development = OWN_CREDENTIALS } = choices;
  const { url, contact: _, ...limits } = operatorOf(choices);
  const SERVER = choices.development ? developmentUrl() : (url ?? EXAMPLE_URL);
  return {
    ...limits,
    ...development,
    FAULTS: faultsTable,
    /** Each API has its own table: see siteOf. */
    CODES: "",
    EVERY_OPERATION: "",
    ROUTES_WITH_KEY: routesWithKey(),
    SCOPES: scopesTable(),
    SERVER,
    VERSION: version,
    CLIENT_TIMEOUT: TIMEOUT,
    CLIENT_RETRIES: MAX_RETRIES,
  };
}

export function introductionOf(api: Api, choices: Choices = {}) {
  const { url = "", contact } = operatorOf(choices);
  return {
    info: {
      title: APIS[api].title,
      description: `${APIS[api].description} The guides and the reference are at ${url}/${api}/guides/introduction.`,
      version,
      contact,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [
      {
        url: `${url}/api/${api}`,
        description: choices.development
          ? "The server on this machine, for development"
          : "The production server",
        // For tools that keep an inventory of APIs: whether only the operator's own systems call it.
        "x-internal": api !== "external",
      },
    ],
  };
}
