import { readFileSync } from "node:fs";
import { join } from "node:path";
import { app } from "../app.ts";
import { MAX_RETRIES, TIMEOUT } from "../client/settings.ts";
import type { Input } from "../http/validation.ts";
import { APIS, type Api } from "./apis.ts";
import { faultsTable } from "./error_texts.ts";
import { EXAMPLE_URL, operator, readOperator } from "./operator.ts";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));

export const DEVELOPMENT_URL = "http://localhost:8787";

const OWN_CREDENTIALS = {
  CLIENT_ID: "your-client-id",
  CLIENT_SECRET: "your-client-secret",
  PLATFORM_API_TOKEN: "your-platform-token",
};

export interface Choices {
  /** The credentials on a developer's machine. There, requests must not reach the operator's service. */
  development?: typeof OWN_CREDENTIALS;
  wranglerToml?: string;
}

/** What the operator says of the service; on a developer's machine, it is nowhere else. */
export const operatorOf = ({ development, wranglerToml }: Choices) => ({
  ...(wranglerToml ? readOperator(wranglerToml) : operator),
  ...(development && { url: undefined }),
});

/** The external API's routes that take an idempotency key, for a sentence. */
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

/** What stands in the guides for `{{NAME}}`, beside limits and lifetimes. */
export function guideValues(choices: Choices = {}) {
  const { development = OWN_CREDENTIALS } = choices;
  const { url, contact: _, ...limits } = operatorOf(choices);
  const SERVER = choices.development ? DEVELOPMENT_URL : (url ?? EXAMPLE_URL);
  return {
    ...limits,
    ...development,
    FAULTS: faultsTable,
    ROUTES_WITH_KEY: routesWithKey(),
    SERVER,
    VERSION: version,
    CLIENT_TIMEOUT: TIMEOUT,
    CLIENT_RETRIES: MAX_RETRIES,
  };
}

/** The `info` and the `servers` of a document. */
export function introductionOf(api: Api, choices: Choices = {}) {
  const { url = "", contact } = operatorOf(choices);
  return {
    info: {
      title: APIS[api].title,
      description: `${APIS[api].description} The guides, and all of this on pages, are at ${url}/${api}/guides/introduction.`,
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
        // Whether only the operator's own systems call it, for tools that keep an inventory of APIs.
        "x-internal": api !== "external",
      },
    ],
  };
}
