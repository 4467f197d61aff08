import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DOORS, type Door } from "./doors.ts";
import { faultsTable } from "./error_texts.ts";
import { guidesOf } from "./guides.ts";

const ROOT = join(import.meta.dirname, "../..");

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Shown where the operator has not said at which address the service is. */
const EXAMPLE_URL = "https://visits.example.com";

const DEVELOPMENT_URL = "http://localhost:8787";

const EMAIL = /^[^\s@:/]+@[^\s@:/]+$/;

/**
 * What the operator says of the service in wrangler.toml: empty variables are not set.
 *
 * @throws Error if a variable is not valid. It stops the build, and with it a deployment
 */
export function readOperator(wranglerToml: string) {
  const variable = (name: string) =>
    new RegExp(`^${name} *= *"([^"\\n]*)"`, "m").exec(wranglerToml)?.[1] ?? "";
  const url = variable("PUBLIC_URL");
  if (url && !(URL.canParse(url) && new URL(url).origin === url && url.startsWith("https://")))
    throw new Error(
      `wrangler.toml: PUBLIC_URL must be an address without a path, such as ${EXAMPLE_URL}, or empty`,
    );
  const contact = variable("CONTACT");
  if (contact && !EMAIL.test(contact) && !(URL.canParse(contact) && contact.startsWith("https://")))
    throw new Error("wrangler.toml: CONTACT must be an email address, or an address with https://, or empty");
  return {
    url: url || undefined,
    contact: {
      name: "The operator of this service",
      ...(contact && { [EMAIL.test(contact) ? "email" : "url"]: contact }),
    },
    CLIENT_LIMIT_PER_MINUTE: Number(variable("CLIENT_LIMIT_PER_MINUTE")),
    FAILURE_LIMIT_PER_MINUTE: Number(variable("FAILURE_LIMIT_PER_MINUTE")),
  };
}

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
export function introductionOf(door: Door, { development, wranglerToml }: Choices = {}) {
  const { url, contact, ...limits } = readOperator(wranglerToml ?? read("wrangler.toml"));
  const SERVER = development ? DEVELOPMENT_URL : (url ?? EXAMPLE_URL);
  const values = { ...limits, ...(development ?? OWN_CREDENTIALS), FAULTS: faultsTable, SERVER };
  return {
    info: {
      title: DOORS[door].title,
      description: guidesOf(door, values),
      version: JSON.parse(read("package.json")).version as string,
      contact,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: `${development ? "" : (url ?? "")}/api/${door}`, description: "This server" }],
  };
}
