import type * as z from "zod";
import type { Role } from "../../database/enums.ts";
import type { organizationUsers } from "../../database/schema.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { sortRoles } from "../roles/roles.schemas.ts";
import {
  assistsNonProvider,
  emailHasAccount,
  type MemberField,
  notAnAssistant,
  providerInUse,
} from "./organization_users.refusals.ts";
import type { createUserBody, MemberChanges } from "./organization_users.schemas.ts";

/** An organization user, and in ascending order the ids of whom the user assists. */
export type Member = typeof organizationUsers.$inferSelect & { assists: number[] };

/** A member as written: somebody new has no id yet. */
export type NextMember = Omit<Member, "id">;

/** Who becomes a user of an organization. */
interface Newcomer {
  organization_id: number;
  email: string;
  display_name: string;
  roles: Role[];
}

/** A membership that has ended keeps its row, without roles. */
export const hasEnded = ({ roles }: Pick<Member, "roles">): boolean => roles.length === 0;

/**
 * Somebody whose membership has ended is the same organization user again, with the new name and roles. An existing member
 * keeps the name, and gains the roles.
 *
 * @param member the organization user with this email
 */
export function joinMember(
  member: Member | undefined,
  { organization_id, email, display_name, roles }: Newcomer,
  now: number,
): NextMember {
  if (!member)
    return { organization_id, email, display_name, roles, assists: [], created_at: now, updated_at: now };
  return hasEnded(member)
    ? { ...member, display_name, roles, updated_at: now }
    : { ...member, roles: sortRoles([...member.roles, ...roles]), updated_at: now };
}

/** Those whom `assists` names who are providers of the organization. */
type Providers = { id: number }[];

/**
 * @param member the organization user with this email
 * @throws ApiError 422 if the email has an account, or the assists cannot be
 */
export function newMember(
  {
    organization_id,
    member,
    providers,
  }: { organization_id: number; member: Member | undefined; providers: Providers },
  { assists = [], ...input }: z.output<ReturnType<typeof createUserBody>>["user"],
  now: number,
): NextMember {
  if (member && !hasEnded(member)) throw emailHasAccount();
  return withAssists(joinMember(member, { organization_id, ...input }, now), assists, providers, "user");
}

/**
 * A field left out stays. A member who is no longer a provider_assistant assists nobody.
 *
 * @param field that of the request
 * @param isRoomInUse whether somebody is in the member's personal room, or a call goes on there
 * @throws ApiError 422 if the assists cannot be, or that room would be taken away while it is in use
 */
export function mergeMember(
  {
    member,
    providers,
    field,
    isRoomInUse,
  }: { member: Member; providers: Providers; field: MemberField; isRoomInUse: boolean },
  { assists, ...input }: MemberChanges,
  now: number,
): NextMember {
  const next = { ...member, ...withoutUndefined(input), updated_at: now };
  if (isRoomInUse && isProvider(member) && !isProvider(next)) throw providerInUse(field);
  if (assists) return withAssists(next, assists, providers, field);
  return isAssistant(next) ? next : { ...next, assists: [] };
}

/** The row stays, without roles: calls and metrics lead to it. */
export const formerMember = (member: Member, now: number): NextMember => ({
  ...member,
  roles: [],
  assists: [],
  updated_at: now,
});

/** Someone who was assisted before can stay on the list without still being a provider: the calls remain. */
function withAssists(
  member: NextMember,
  assists: number[],
  providers: Providers,
  field: MemberField,
): NextMember {
  if (assists.length > 0 && !isAssistant(member)) throw notAnAssistant(field);
  const possible = new Set([...providers.map(({ id }) => id), ...member.assists]);
  if (assists.some((id) => !possible.has(id))) throw assistsNonProvider(field);
  return { ...member, assists: [...new Set(assists)].sort((a, b) => a - b) };
}

const isProvider = ({ roles }: Pick<Member, "roles">) => roles.includes("provider");

const isAssistant = ({ roles }: Pick<Member, "roles">) => roles.includes("provider_assistant");
