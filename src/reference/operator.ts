import { createRequire } from "node:module";
import { join } from "node:path";
import { isLoopback } from "../http/loopback.ts";
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

/** The part of wrangler's configuration that the build reads. */
export interface Configuration {
  vars: Record<string, unknown>;
  ratelimits: { name: string; simple: { limit: number; period: number } }[];
}

/**
 * Reads the operator's settings. An empty variable counts as not set.
 *
 * @throws Error if a variable is not valid, which stops the build and with it a deployment
 */
export function readOperator(vars: Configuration["vars"]) {
  const { PUBLIC_URL: url = "", CONTACT: contact = "" } = vars as Record<string, string>;
  if (url && !isAddress(url))
    throw new Error(
      `wrangler.toml: PUBLIC_URL must be an address without a path, such as ${EXAMPLE_URL}, or empty`,
    );
  if (contact && !EMAIL.test(contact) && !(URL.canParse(contact) && contact.startsWith("https://")))
    throw new Error("wrangler.toml: CONTACT must be an email address, or an address with https://, or empty");
  return {
    url: url || undefined,
    contact: {
      name: "The operator of this service",
      ...(contact && { [EMAIL.test(contact) ? "email" : "url"]: contact }),
    } as Contact,
    ...(Object.fromEntries(LIMITS.map((name) => [name, Number(vars[name])])) as Record<
      (typeof LIMITS)[number],
      number
    >),
  };
}

function isAddress(url: string): boolean {
  const { origin, protocol, hostname } = URL.canParse(url) ? new URL(url) : new URL("none:");
  return origin === url && (protocol === "https:" || isLoopback(hostname));
}

/**
 * The service reports its rate limits to callers, but a Worker cannot read the limits of its bindings. So each limit is in
 * wrangler.toml twice: in the binding and in a variable.
 *
 * @throws Error if a limit and its variable differ, which stops the build and with it a deployment
 */
export function requireSameLimits({ vars, ratelimits }: Configuration): void {
  for (const name of LIMITS) {
    const binding = name.replace("_PER_MINUTE", "");
    const { limit, period } = ratelimits.find((each) => each.name === binding)?.simple ?? {};
    if (String(limit) !== vars[name] || period !== RATE_LIMIT_PERIOD)
      throw new Error(
        `wrangler.toml: ${binding} must have a limit with the period ${RATE_LIMIT_PERIOD}, and ${name} in [vars] must be the same number`,
      );
  }
}

/** @throws Error for an unknown environment: wrangler would use production instead */
function readConfiguration(env: string | undefined): Configuration {
  const { unstable_readConfig }: typeof import("wrangler") = createRequire(import.meta.url)("wrangler");
  const config = join(import.meta.dirname, "../../wrangler.toml");
  const read = (env?: string) => unstable_readConfig({ config, env }, { hideWarnings: true });
  if (env && !read().definedEnvironments?.includes(env))
    throw new Error(`wrangler.toml has no environment ${env}`);
  return read(env) as unknown as Configuration;
}

/** The configuration of the environment that is built, which wrangler's variable CLOUDFLARE_ENV names. */
export const configuration: Configuration = readConfiguration(process.env.CLOUDFLARE_ENV || undefined);
requireSameLimits(configuration);

export const operator = readOperator(configuration.vars);
