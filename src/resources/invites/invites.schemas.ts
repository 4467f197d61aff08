import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { email, name, reference, timestamp, timestampOrNull } from "../../http/wire.ts";
import { DAY, MAX_TOKEN_LENGTH } from "../../limits.ts";
import type { Settings } from "../../settings.ts";
import { roleNames } from "../organization_users/organization_users.schemas.ts";
import type { inviteSchema, inviteWithAcceptUrlSchema } from "./invites.responses.ts";
import type { inviteColumns } from "./invites.sql.ts";

export const inviteInput = z.object({ email, display_name: name, role_names: roleNames });

export type InviteInput = z.output<typeof inviteInput>;

export const createInviteBody = z.object({ organization_invite: inviteInput });

export const acceptInviteBody = z.object({ token: reference(MAX_TOKEN_LENGTH) });

export type Invite = Row<typeof inviteColumns>;

export interface InviteWithAcceptUrl extends Invite {
  accept_url: string;
}

export function toInvite(row: Invite): z.input<typeof inviteSchema> {
  return {
    id: row.id,
    email: row.email,
    display_name: row.display_name,
    roles: row.roles,
    organization_id: row.organization_id,
    organization_name: row.organization_name,
    expires_at: timestamp(row.expires_at),
    used_at: timestampOrNull(row.used_at),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}

export function toInviteWithAcceptUrl(row: InviteWithAcceptUrl): z.input<typeof inviteWithAcceptUrlSchema> {
  return { ...toInvite(row), accept_url: row.accept_url };
}

/** Until when an invite that is made now can be accepted. */
export const inviteExpiry = (
  { INVITE_VALIDITY_DAYS }: Pick<Settings, "INVITE_VALIDITY_DAYS">,
  now: number,
): number => now + INVITE_VALIDITY_DAYS * DAY;
