import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_RETRIES, TIMEOUT } from "../client/settings.ts";
import { SCOPES } from "../database/enums.ts";
import { APIS, type Api } from "./apis.ts";
import { configuration, EXAMPLE_URL, operator, readOperator } from "./operator.ts";
import { inputOf, type Route, routesOf } from "./routes.ts";

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

const namesOf = (isWanted: (route: Route) => boolean) =>
  [...routesOf("external")]
    .filter(([, known]) => isWanted(known))
    .map(([route]) => `\`${route.replace(/:(\w+)/g, "{$1}")}\``);

const routesWithKey = () =>
  new Intl.ListFormat("en-GB").format(namesOf((route) => inputOf(route, "header") !== undefined).sort());

function scopesTable(): string {
  const rows = SCOPES.map((scope) => {
    const opened = namesOf((route) => route.scope === scope);
    return `| \`${scope}\` | ${opened.join("<br>")} |`;
  });
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
    FAULTS: readFileSync(join(import.meta.dirname, "faults.md"), "utf8").trim(),
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
