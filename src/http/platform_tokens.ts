import type { Context as HonoContext } from "hono";
import { digestBytes, matchesDigest } from "../bytes/digest.ts";
import type { Settings } from "../settings.ts";
import { ApiError } from "./errors.ts";
import { declarationOf, declaring } from "./route_declarations.ts";

/** Tokens that open only the routes that declare them. `PLATFORM_API_TOKEN` opens every route. */
export const PART_TOKENS = ["PLATFORM_REPORTS_TOKEN", "PLATFORM_WEB_APP_TOKEN"] as const;

export type PartToken = (typeof PART_TOKENS)[number];

/** In the order of comparison. During its rotation, each token has two values. */
const TOKENS = ["PLATFORM_API_TOKEN", ...PART_TOKENS] as const;

type PlatformToken = (typeof TOKENS)[number];

/** Declares the tokens that open a route besides `PLATFORM_API_TOKEN`. `platformApi` enforces it. */
export const openTo = (...tokens: PartToken[]) => declaring({ openTo: tokens });

export async function platformTokenOf(settings: Settings, token: string): Promise<PlatformToken | undefined> {
  for (const name of TOKENS)
    for (const known of [settings[name], settings[`${name}_PREVIOUS`]])
      if (known !== undefined && (await matchesDigest(token, await digestBytes(known)))) return name;
  return undefined;
}

export const missingToken = (tokens: readonly PartToken[]) =>
  new ApiError(
    403,
    "missing_scope",
    `The platform token that was sent does not open this route: send ${["PLATFORM_API_TOKEN", ...tokens].join(" or ")}`,
  );

export function requireToken(c: HonoContext, name: PlatformToken): void {
  if (name === "PLATFORM_API_TOKEN") return;
  const tokens = declarationOf<PartToken[]>(c, "openTo") ?? [];
  if (!tokens.includes(name)) throw missingToken(tokens);
}
