import { env } from "cloudflare:workers";
import { AGE_INVITE } from "../../support/clinic.ts";
import { platform } from "./api.ts";
import { given } from "./organization.ts";
import { travelTo } from "./time.ts";

interface OfOrganization {
  id: number;
  organization_id: number;
}

/** The token in the link that is mailed to the invitee. */
export async function tokenOf({ id, organization_id }: OfOrganization): Promise<string> {
  const { accept_url } = await given(platform.get(`/organizations/${organization_id}/invites/${id}`));
  return new URL(accept_url).searchParams.get("token") ?? "";
}

/** Lets an invite be some minutes old. */
export async function letAge({ id }: { id: number }) {
  await env.DB.prepare(AGE_INVITE).bind(id).run();
}

/** Sets the clock to the moment when the invite expires, or a number of milliseconds after. */
export const travelToExpiry = ({ expires_at }: { expires_at: string }, after = 0) =>
  travelTo(new Date(Date.parse(expires_at) + after).toISOString());

export const acceptToken = (token: unknown) => platform.post("/invites/accept", { token });

/**
 * Does the work, and puts an invite back that it removes. So an account has a pending invite, as no request leaves it: what
 * depends on there being none must still be right.
 */
export async function keepingInvite<T>({ id }: { id: number }, work: () => Promise<T>): Promise<T> {
  const row = await env.DB.prepare("select * from invites where id = ?").bind(id).first();
  const columns = Object.entries(row ?? {});
  const result = await work();
  await env.DB.prepare(
    `insert into invites (${columns.map(([name]) => name)}) values (${columns.map(() => "?")})`,
  )
    .bind(...columns.map(([, value]) => value))
    .run();
  return result;
}

/** Accepts the invite as an invitee who follows the link. */
export const accept = async (invite: OfOrganization) => acceptToken(await tokenOf(invite));

/** What single invites and rows of bulk invites are refused for. */
export const hasPendingInvite = ({ id }: { id: number }) => `has the pending invite ${id}: ${insteadOf(id)}`;

export interface ExpiringInvite {
  id: number;
  expires_at: string;
}

export const hasExpiredInvite = ({ id, expires_at }: ExpiringInvite) =>
  `has the pending invite ${id}, which expired on ${expires_at}: ${insteadOf(id)}`;

const insteadOf = (id: number) =>
  `send it again with POST /invites/${id}/resend, or delete it with DELETE /invites/${id} to make another one`;
