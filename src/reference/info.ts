import { readFileSync } from "node:fs";
import { join } from "node:path";
import { APIS, type Api } from "./apis.ts";
import { faultsTable } from "./error_texts.ts";
import { guidesOf } from "./guides.ts";
import { EXAMPLE_URL, operator, readOperator } from "./operator.ts";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));

export const DEVELOPMENT_URL = "http://localhost:8787";

const OWN_CREDENTIALS = {
  CLIENT_ID: "your-client-id",
  CLIENT_SECRET: "your-client-secret",
  PLATFORM_API_TOKEN: "your-platform-token",
};

interface Choices {
  /** The credentials on a developer's machine. There, requests from the page must not reach the operator's service. */
  development?: typeof OWN_CREDENTIALS;
  wranglerToml?: string;
}

/** The `info` and the `servers` of a document. */
export function introductionOf(api: Api, { development, wranglerToml }: Choices = {}) {
  const { url, contact, ...limits } = wranglerToml ? readOperator(wranglerToml) : operator;
  const SERVER = development ? DEVELOPMENT_URL : (url ?? EXAMPLE_URL);
  const values = { ...limits, ...(development ?? OWN_CREDENTIALS), FAULTS: faultsTable, SERVER };
  return {
    info: {
      title: APIS[api].title,
      description: guidesOf(api, values),
      version,
      contact,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [
      {
        url: `${development ? "" : (url ?? "")}/api/${api}`,
        description: development ? "The server on this machine, for development" : "The production server",
        // Whether only the operator's own systems call it, for tools that keep an inventory of APIs.
        "x-internal": api !== "external",
      },
    ],
  };
}
