import * as z from "zod";
import { readLinkToken, signLinkToken } from "../../http/link_tokens.ts";
import { id, pathId } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { Settings } from "../../settings.ts";
import { inviteNotFound } from "./invites.refusals.ts";
import type { Invite, InviteWithAcceptUrl } from "./invites.schemas.ts";

/**
 * After a restore, ids are assigned again, and an old link must not open another invite: hence `created_at`. A resent invite
 * has another `resent_at`, so that the previous link stops working.
 */
const tokenClaims = lazily(() =>
  z.object({
    sub: pathId(),
    organization_id: id(),
    created_at: z.int(),
    resent_at: z.int().nullable().default(null),
  }),
);

export type InviteOfToken = Pick<Invite, "id" | "organization_id" | "created_at" | "resent_at">;

export async function withAcceptUrl<Known extends InviteOfToken>(
  settings: Settings,
  invite: Known,
): Promise<Known & Pick<InviteWithAcceptUrl, "accept_url">> {
  const { id, organization_id, created_at, resent_at } = invite;
  const claims = { sub: String(id), organization_id, created_at, ...(resent_at !== null && { resent_at }) };
  const token = await signLinkToken(settings, "invite+jwt", claims);
  return { ...invite, accept_url: `${settings.APP_URL}/invites/accept?token=${token}` };
}

export async function verifyToken(settings: Settings, token: string): Promise<InviteOfToken> {
  const named = await readLinkToken(settings, "invite+jwt", tokenClaims(), token);
  if (!named) throw inviteNotFound();
  const { sub, ...claims } = named;
  return { id: sub, ...claims };
}
