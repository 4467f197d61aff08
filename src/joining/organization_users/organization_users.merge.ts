import type * as z from "zod";
import type { Role } from "../../database/enums.ts";
import { withoutUndefined } from "../../http/wire.ts";
import type { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { sortRoles } from "../../organization/roles/roles.policy.ts";
import * as refusals from "./organization_users.refusals.ts";
import type { createUserBody, MemberChanges } from "./organization_users.schemas.ts";

/** `assists` are the providers' ids, in ascending order. */
export type Member = typeof organizationUsers.$inferSelect & { assists: number[] };

export type NextMember = Omit<Member, "id">;

interface Newcomer {
  organization_id: number;
  email: string;
  display_name: string;
  roles: Role[];
}

/** An ended membership keeps its row, without roles. */
export const hasEnded = ({ roles }: Pick<Member, "roles">): boolean => roles.length === 0;

/** An existing member keeps their name and gains the roles. A former one stays the same organization user. */
export function joinMember(
  member: Member | undefined,
  { organization_id, email, display_name, roles }: Newcomer,
  now: number,
): NextMember {
  const newcomer = { organization_id, email, display_name, roles, created_at: now, updated_at: now };
  if (!member) return { ...newcomer, assists: [], assists_changes: 0 };
  return hasEnded(member)
    ? { ...member, email, display_name, roles, updated_at: now }
    : { ...member, roles: sortRoles([...member.roles, ...roles]), updated_at: now };
}

type Providers = { id: number }[];

interface KnownMember {
  member: Member;
  providers: Providers;
  field: refusals.MemberField;
  /** Whether someone is in the member's personal room, or a call is ongoing there. */
  isRoomInUse: boolean;
  emailOwner: { id: number } | undefined;
}

/**
 * @param member the organization user named by `returning_user_id`
 * @throws ApiError 422
 */
export function newMember(
  known: { organization_id: number; hasAccount: boolean; member: Member | undefined; providers: Providers },
  { assists = [], returning_user_id, ...input }: z.output<ReturnType<typeof createUserBody>>["user"],
  now: number,
): NextMember {
  const { organization_id, member } = known;
  if (known.hasAccount) throw refusals.emailHasAccount();
  if (returning_user_id !== undefined && !(member && hasEnded(member)))
    throw refusals.notFormerMember("user");
  return withAssists(
    joinMember(member, { organization_id, ...input }, now),
    assists,
    known.providers,
    "user",
  );
}

/**
 * Omitted fields keep their values. Only the name and the email of a former member can change, to make them anonymous.
 *
 * @throws ApiError 422
 */
export function mergeMember(
  { member, providers, field, isRoomInUse, emailOwner }: KnownMember,
  { assists, ...input }: MemberChanges,
  now: number,
): NextMember {
  const next = { ...member, ...withoutUndefined(input), updated_at: now };
  if (hasEnded(member)) {
    if (input.roles) throw refusals.formerMemberStays(field, "roles");
    if (assists && assists.length > 0) throw refusals.formerMemberStays(field, "assists");
    return next;
  }
  if (next.email === null) throw refusals.memberNeedsEmail(field);
  if (emailOwner && emailOwner.id !== member.id) throw refusals.emailTaken(field);
  if (isRoomInUse && isProvider(member) && !isProvider(next)) throw refusals.providerInUse(field);
  if (assists) return withAssists(next, assists, providers, field);
  return isAssistant(next) ? next : { ...next, assists: [] };
}

/** The row stays, because calls and metrics refer to it. */
export const formerMember = (member: Member, now: number): NextMember => ({
  ...member,
  roles: [],
  assists: [],
  updated_at: now,
});

/** A user who was already assisted may stay without the role provider, because their calls remain. */
function withAssists(
  member: NextMember,
  assists: number[],
  providers: Providers,
  field: refusals.MemberField,
) {
  if (assists.length > 0 && !isAssistant(member)) throw refusals.notAnAssistant(field);
  const possible = new Set([...providers.map(({ id }) => id), ...member.assists]);
  const stranger = assists.findIndex((id) => !possible.has(id));
  if (stranger >= 0) throw refusals.assistsNonProvider(field, stranger);
  return { ...member, assists: [...new Set(assists)].sort((a, b) => a - b) };
}

const isProvider = ({ roles }: Pick<Member, "roles">) => roles.includes("provider");

const isAssistant = ({ roles }: Pick<Member, "roles">) => roles.includes("provider_assistant");
