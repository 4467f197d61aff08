import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { afterPositions } from "../../http/positions.ts";
import { email, name, reference, toTimestamp, toTimestampOrNull } from "../../http/wire.ts";
import { MAX_OWN_TOKEN_LENGTH } from "../../limits.ts";
import { returningUserId, roleNames } from "../organization_users/organization_users.schemas.ts";
import type { inviteSchema, inviteWithAcceptUrlSchema } from "./invites.responses.ts";
import type { inviteColumns } from "./invites.sql.ts";

export const inviteInput = () =>
  z.object({ email: email(), display_name: name(), role_names: roleNames().meta({ example: ["provider"] }) });

export type InviteInput = z.output<ReturnType<typeof inviteInput>>;

const newInviteInput = () => inviteInput().extend({ returning_user_id: returningUserId() });

export type NewInviteInput = z.output<ReturnType<typeof newInviteInput>>;

export const createInviteBody = () => z.object({ organization_invite: newInviteInput() });

export const inviteListQuery = () =>
  pageQuery().extend({ status: z.enum(["active", "expired"]).default("active"), email: email().optional() });

export type InviteListQuery = z.output<ReturnType<typeof inviteListQuery>>;

export const activeInvitesQuery = () =>
  z.object({
    status: z.enum(["active"]).default("active"),
    after: afterPositions(),
    per_page: pageQuery().shape.per_page,
  });

export type ActiveInvitesQuery = z.output<ReturnType<typeof activeInvitesQuery>>;

export const acceptInviteBody = () => z.object({ token: reference(MAX_OWN_TOKEN_LENGTH) });

export type AcceptInviteBody = z.output<ReturnType<typeof acceptInviteBody>>;

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
    expires_at: toTimestamp(row.expires_at),
    used_at: toTimestampOrNull(row.used_at),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
    mail_status: row.mail_status,
    mailed_at: toTimestampOrNull(row.mailed_at),
    created_by_user_id: row.created_by_user_id,
    returning_user_id: row.returning_user_id,
  };
}

export function toInviteWithAcceptUrl(row: InviteWithAcceptUrl): z.input<typeof inviteWithAcceptUrlSchema> {
  return { ...toInvite(row), accept_url: row.accept_url };
}
