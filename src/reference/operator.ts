import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RATE_LIMIT_PERIOD } from "../lifetimes.ts";

/** Shown if the operator has not set the address of the service. */
export const EXAMPLE_URL = "https://visits.example.com";

const LIMITS = [
  "CLIENT_LIMIT_PER_MINUTE",
  "ORGANIZATION_LIMIT_PER_MINUTE",
  "BULK_INVITE_LIMIT_PER_MINUTE",
  "REDELIVERY_LIMIT_PER_MINUTE",
  "ACCESS_LOG_LIMIT_PER_MINUTE",
  "FAILURE_LIMIT_PER_MINUTE",
] as const;

const EMAIL = /^[^\s@:/]+@[^\s@:/]+$/;

type Contact = { name: string; email?: string; url?: string };

/**
 * Reads the operator's settings from wrangler.toml. An empty variable counts as not set.
 *
 * @throws Error if a variable is not valid, which stops the build and with it a deployment
 */
export function readOperator(wranglerToml: string) {
  const url = variableIn(wranglerToml, "PUBLIC_URL");
  if (url && !(URL.canParse(url) && new URL(url).origin === url && url.startsWith("https://")))
    throw new Error(
      `wrangler.toml: PUBLIC_URL must be an address without a path, such as ${EXAMPLE_URL}, or empty`,
    );
  const contact = variableIn(wranglerToml, "CONTACT");
  if (contact && !EMAIL.test(contact) && !(URL.canParse(contact) && contact.startsWith("https://")))
    throw new Error("wrangler.toml: CONTACT must be an email address, or an address with https://, or empty");
  return {
    url: url || undefined,
    contact: {
      name: "The operator of this service",
      ...(contact && { [EMAIL.test(contact) ? "email" : "url"]: contact }),
    } as Contact,
    ...(Object.fromEntries(LIMITS.map((name) => [name, Number(variableIn(wranglerToml, name))])) as Record<
      (typeof LIMITS)[number],
      number
    >),
  };
}

const variableIn = (wranglerToml: string, name: string): string =>
  new RegExp(`^${name} *= *"([^"\\n]*)"`, "m").exec(wranglerToml)?.[1] ?? "";

/**
 * The service reports its rate limits to callers, but a Worker cannot read the limits of its bindings. So each limit is in
 * wrangler.toml twice: in the binding and in a variable.
 *
 * @throws Error if a limit and its variable differ, which stops the build and with it a deployment
 */
export function requireSameLimits(wranglerToml: string): void {
  for (const name of LIMITS) {
    const binding = name.replace("_PER_MINUTE", "");
    const limit = new RegExp(
      `^name = "${binding}"\\n(?:.+\\n)*?simple = \\{ limit = (\\d+), period = ${RATE_LIMIT_PERIOD} \\}`,
      "m",
    );
    if (limit.exec(wranglerToml)?.[1] !== variableIn(wranglerToml, name))
      throw new Error(
        `wrangler.toml: ${binding} must have a limit with the period ${RATE_LIMIT_PERIOD}, and ${name} in [vars] must be the same number`,
      );
  }
}

/**
 * Extracts the configuration of one environment, as if it were the only one.
 *
 * @param name the environment's name; by default production, which is everything outside `[env.…]`
 * @throws Error for an unknown environment: wrangler would use production instead
 */
export function environmentIn(wranglerToml: string, name = ""): string {
  const sections = wranglerToml.split(/^(?=\[)/m);
  if (name === "") return sections.filter((section) => !/^\[+env\./.test(section)).join("");
  const header = new RegExp(`^(\\[+)env\\."?${name}"?\\.`);
  const own = sections.filter((section) => header.test(section));
  if (own.length === 0) throw new Error(`wrangler.toml has no environment ${name}`);
  return own.map((section) => section.replace(header, "$1")).join("");
}

const wranglerToml = readFileSync(join(import.meta.dirname, "../../wrangler.toml"), "utf8");
const chosen = environmentIn(wranglerToml, process.env.CLOUDFLARE_ENV);
requireSameLimits(chosen);

/** The operator's settings for the environment that is built, which wrangler's variable CLOUDFLARE_ENV names. */
export const operator = readOperator(chosen);
