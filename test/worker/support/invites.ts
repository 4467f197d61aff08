import { env } from "cloudflare:workers";
import { AGE_INVITE } from "../../support/clinic.ts";
import { type Api, platform } from "./api.ts";
import { anInvite, given, type Organization } from "./organization.ts";
import { travelTo } from "./time.ts";

export const create = ({ client }: { client: Pick<Api, "post"> }, more: object = {}) =>
  client.post("/invites", { organization_invite: anInvite(more) });

export const read = ({ client }: Organization, { id }: { id: unknown }) => client.get(`/invites/${id}`);

export const remove = ({ client }: Organization, { id }: { id: unknown }) => client.delete(`/invites/${id}`);

export const list = async ({ client }: Organization, query = "") =>
  (await client.get(`/invites${query}`)).body;

export const listed = async (clinic: Organization, query = "") =>
  (await list(clinic, query)).organization_invites;

interface OfOrganization {
  id: number;
  organization_id: number;
}

/** The token in the link that is mailed to the invitee. */
export async function tokenOf({ id, organization_id }: OfOrganization): Promise<string> {
  const { accept_url } = await given(platform.get(`/organizations/${organization_id}/invites/${id}`));
  return new URL(accept_url).searchParams.get("token") ?? "";
}

/** Makes an invite a few minutes old. */
export async function letAge({ id }: { id: number }) {
  await env.DB.prepare(AGE_INVITE).bind(id).run();
}

/** Sets the clock to the moment when the invite expires, or a number of milliseconds after. */
export const travelToExpiry = ({ expires_at }: { expires_at: string }, after = 0) =>
  travelTo(new Date(Date.parse(expires_at) + after).toISOString());

export const acceptToken = (token: unknown) => platform.post("/invites/accept", { token });

/**
 * Runs the work, and restores the invite that it deletes. The result is an account with a pending invite. No request can lead
 * to that, but code that relies on there being no such invite must still be right.
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

/** The errors of single invites and of bulk invite rows. */
export const hasPendingInvite = ({ id }: { id: number }) => `has the pending invite ${id}: ${insteadOf(id)}`;

export interface ExpiringInvite {
  id: number;
  expires_at: string;
}

export const hasExpiredInvite = ({ id, expires_at }: ExpiringInvite) =>
  `has the pending invite ${id}, which expired on ${expires_at}: ${insteadOf(id)}`;

const insteadOf = (id: number) =>
  `send it again with POST /invites/${id}/resend, or delete it with DELETE /invites/${id} to create another one`;
