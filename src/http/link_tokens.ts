import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { Settings } from "../settings.ts";

/* JWTs in links. `typ` keeps a token of one kind from passing for another (RFC 8725, section 3.11). */

type LinkType = "invite+jwt" | "visit+jwt";

export const signLinkToken = (settings: Settings, typ: LinkType, claims: JWTPayload): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ }).sign(secretKey(settings));

/** @returns null if the token is forged */
export async function readLinkToken<Schema extends z.ZodType>(
  settings: Settings,
  typ: LinkType,
  claims: Schema,
  token: string,
): Promise<z.output<Schema> | null> {
  try {
    const { payload } = await jwtVerify(token, secretKey(settings), { algorithms: ["HS256"], typ });
    return claims.parse(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) return null;
    throw error;
  }
}

const secretKey = ({ INVITE_TOKEN_SECRET }: Settings) => new TextEncoder().encode(INVITE_TOKEN_SECRET);
