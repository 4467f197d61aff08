import { isDeepStrictEqual } from "node:util";
import { EMAIL, list, NAME, nullable, oneOf, required, resource, SEARCHED_EMAIL } from "../kinds.ts";
import {
  type Caller,
  found,
  idOf,
  type Member,
  type Model,
  matches,
  type Organization,
  ownedBy,
  page,
  portion,
  type Request,
  type Role,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import { MEMBER, type Operations, PAGE, type Path, pickOwned, TRUE_OR_FALSE } from "../operation.ts";
import { isLimited, organizationOf } from "./organizations.ts";
import { newRoom } from "./rooms.ts";

export const ROLES: Role[] = ["provider_assistant", "provider", "organization_admin"];

const sorted = (roles: readonly Role[]) => ROLES.filter((role) => roles.includes(role));

export const ROLE_NAMES = { ...list(oneOf(ROLES), 1, 10, 3), read: sorted };

const shown = (model: Model, member: Member, more: object = {}) =>
  view(member, "email display_name roles assists", {
    user_id: idOf(member),
    waiting_room_slug: model.personalRoomOf(member)?.slug ?? null,
    ...more,
  });

const shownUser = (model: Model, member: Member) =>
  shown(model, member, { organization_id: member.organization.id });

/** Where a user is created, the answer has no `assists`. */
export const createdUser = (model: Model, member: Member) => ({
  ...shownUser(model, member),
  assists: undefined,
});

export const membersOf = (model: Model, organization: Organization) => ownedBy(organization, model.members);

/** The members whose calls and visits a caller may see. */
export function reachOf(model: Model, { organization, member }: Caller): Member[] {
  const isAdmin = member.roles.includes("organization_admin");
  return membersOf(model, organization).filter(
    (each) => isAdmin || each === member || member.assists.includes(each.id),
  );
}

export const reachedMember = (
  model: Model,
  { caller, path }: Request,
  id = path.organization_user_id ?? path.id,
): Member => withId(reachOf(model, caller), id);

const isProvider = ({ roles }: Member) => roles.includes("provider");
const isAdmin = ({ roles }: Pick<Member, "roles">) => roles.includes("organization_admin");

/** The roles at or below the highest one. */
export function assignable(roles: readonly Role[], limits?: Parameters<typeof isLimited>[0]): Role[] {
  const level = Math.max(...roles.map((role) => ROLES.indexOf(role)));
  return ROLES.filter(
    (role, rank) => rank <= level && !(limits && isLimited(limits) && role === "organization_admin"),
  );
}

/** @throws Refusal 422 if a role is above the caller's level, or beyond the limits of the client */
export function requireAssignable({ member, client }: Caller, roles: readonly Role[]): void {
  if (roles.every((role) => assignable(member.roles, client).includes(role))) return;
  throw unprocessable(isAdmin(member) ? "beyond_own_rights" : "role_above_level");
}

export const accountOf = (model: Model, organization: Organization, email: string | null | undefined) =>
  membersOf(model, organization).find((member) => member.email === email && member.roles.length > 0);

export const pendingOf = (model: Model, organization: Organization) =>
  ownedBy(organization, model.invites).filter(({ used_at }) => used_at === null);

const withdraw = (model: Model, invites: Model["invites"]) => {
  model.invites = model.invites.filter((invite) => !invites.includes(invite));
};

const withdrawInvitesTo = (model: Model, organization: Organization, email: string) =>
  withdraw(
    model,
    pendingOf(model, organization).filter((invite) => invite.email === email),
  );

const CREATOR_REMOVED = { is_active: false, disabled_reason: "creator_removed" };

/** Writes a member, and everything that the roles grant or take away. */
export function writeMember(model: Model, member: Member, next: Member): Member {
  const before = [...member.roles];
  Object.assign(member, next);
  if (!model.members.includes(member)) model.members.push(member);
  const lost =
    before.length > 0 ? assignable(before).filter((role) => !assignable(member.roles).includes(role)) : [];
  const isBeyond = (roles: readonly Role[]) => roles.some((role) => lost.includes(role));
  if (lost.length > 0) {
    const made = pendingOf(model, member.organization).filter(
      ({ creator, roles, returning }) => creator === member && (returning || isBeyond(roles)),
    );
    withdraw(model, made);
    for (const { creator, rows } of model.bulkInvites)
      for (const row of creator === member ? rows : []) if (isBeyond(row.roles)) row.isFailed = true;
  }
  if (lost.includes("organization_admin"))
    for (const endpoint of model.endpoints)
      if (endpoint.creator === member && endpoint.is_active)
        Object.assign(endpoint, { ...CREATOR_REMOVED, updated_at: model.now });
  const room = model.rooms.find(({ owner }) => owner === member);
  if (isProvider(member)) {
    const { organization, display_name: name } = member;
    if (room?.is_retired) Object.assign(room, { is_retired: false, updated_at: model.now });
    if (!room) newRoom(model, { organization, owner: member, name, is_active: true });
  } else if (room && !room.is_retired) {
    Object.assign(room, { is_retired: true, updated_at: model.now });
    model.leaveRoom(room);
    for (const sub of model.subs)
      if (sub.user === member) Object.assign(sub, { user: null, updated_at: model.now });
  }
  return member;
}

/** @throws Refusal 422 if the member cannot assist them */
function requireAssists(
  model: Model,
  member: Member,
  assists: number[],
  before: number[] = member.assists,
): number[] {
  if (assists.length > 0 && !member.roles.includes("provider_assistant"))
    throw unprocessable("not_an_assistant");
  const possible = membersOf(model, member.organization).flatMap((each) =>
    isProvider(each) ? [each.id] : [],
  );
  if (!assists.every((id) => [...possible, ...before].includes(id))) throw unprocessable("not_a_provider");
  return [...new Set(assists)].sort((one, other) => one - other);
}

/** A newcomer, a former member who returns, or a member who gains roles. */
export function join(
  model: Model,
  member: Member | undefined,
  joining: Pick<Member, "organization" | "email" | "display_name" | "roles">,
): Member {
  const { organization, email, display_name, roles } = joining;
  const fresh = { id: 0, organization, email, display_name, roles, assists: [] };
  if (!member) return writeMember(model, { ...fresh, roles: [] }, fresh);
  const isFormer = member.roles.length === 0;
  return writeMember(model, member, {
    ...member,
    ...(isFormer ? { email, display_name, roles } : { roles: sorted([...member.roles, ...roles]) }),
  });
}

function changeMember(model: Model, member: Member, fields: Partial<Member>, caller?: Caller): void {
  const next = { ...member, ...fields };
  const { organization } = member;
  if (member.roles.length === 0) {
    if (fields.roles || (fields.assists ?? []).length > 0) throw unprocessable("field_not_changeable");
  } else {
    if (next.email === null) throw unprocessable("field_not_changeable");
    if (fields.email && (accountOf(model, organization, fields.email) ?? member) !== member)
      throw unprocessable("account_exists");
    const room = model.personalRoomOf(member);
    if (room && !isProvider(next) && model.isInUse(room)) throw unprocessable("room_in_use");
    if (fields.assists) next.assists = requireAssists(model, next, fields.assists, member.assists);
    else if (!next.roles.includes("provider_assistant")) next.assists = [];
  }
  if (caller) requireRightsOver(caller, member, next);
  if (next.roles.length > 0 && fields.email) withdrawInvitesTo(model, organization, fields.email);
  writeMember(model, member, next);
}

function requireRightsOver(caller: Caller, member: Member, next: Member): void {
  if (isDeepStrictEqual(member, next)) return;
  if (isAdmin(member) && isLimited(caller.client)) throw unprocessable("beyond_own_rights");
  requireAssignable(caller, next.roles);
  if (member === caller.member && !isAdmin(next)) throw unprocessable("own_user");
}

function endMembership(model: Model, member: Member) {
  const { organization, email, id } = member;
  writeMember(model, member, { ...member, roles: [], assists: [] });
  for (const client of model.clients) if (client.member === member) client.revoked_at ??= model.now;
  for (const code of model.codes) if (code.member === member) code.isUsed = true;
  const invites = pendingOf(model, organization);
  withdraw(
    model,
    invites.filter((invite) => invite.email === email || invite.returning === member),
  );
  for (const { organization: of, rows } of model.bulkInvites)
    for (const row of of === organization ? rows : []) if (row.email === email) row.isFailed = true;
  for (const each of membersOf(model, organization))
    each.assists = each.assists.filter((assisted) => assisted !== id);
}

const ASSISTS = list(MEMBER, 0, 1000);
const CHANGES = { email: nullable(EMAIL), display_name: NAME, roles: ROLE_NAMES, assists: ASSISTS };

/** Mostly a member whose loss does not end the story: few stories lose a caller. */
const aMember: Path = (choice) => {
  const { model, chance } = choice;
  const others = model.members.filter((member) => !model.clients.some((client) => client.member === member));
  const id = pickOwned(choice, chance.is(0.9) ? others : model.members)?.id;
  return { id, organization_user_id: id };
};

const memberOfPath = (model: Model, request: Request): Member =>
  withId(membersOf(model, organizationOf(model, request)), request.path.organization_user_id);

export const MEMBERS: Operations = {
  "external GET /roles": {
    query: PAGE,
    play(_, { caller, query }) {
      const roles = assignable(caller.member.roles, caller.client);
      return { roles: portion(roles, { query }) };
    },
  },
  "external GET /organization_users": {
    query: { ...PAGE, email: SEARCHED_EMAIL, role: oneOf(ROLES) },
    play(model, request) {
      const members = reachOf(model, request.caller).filter(
        matches(request.query, ({ email, roles }) => ({ email: roles.length > 0 && email, role: roles })),
      );
      return page("organization_users", members, request, (member) => shown(model, member));
    },
  },
  "external GET /organization_users/{id}": {
    path: aMember,
    play: (model, request) => shown(model, reachedMember(model, request)),
  },
  "external PUT /organization_users/{id}": {
    roles: ["organization_admin"],
    path: aMember,
    changesRights: true,
    body: resource("organization_user", CHANGES),
    play(model, request) {
      const member = reachedMember(model, request);
      changeMember(model, member, request.body.organization_user, request.caller);
      return shown(model, member);
    },
  },
  "external DELETE /organization_users/{id}": {
    roles: ["organization_admin"],
    path: aMember,
    query: { revoke_api_clients: TRUE_OR_FALSE },
    changesRights: true,
    play(model, request) {
      const member = reachedMember(model, request);
      if (member.roles.length === 0) found(undefined);
      requireRightsOver(request.caller, member, { ...member, roles: [], assists: [] });
      const hasClients = model.clients.some((each) => each.member === member && each.revoked_at === null);
      if (hasClients && !request.query.revoke_api_clients) throw unprocessable("user_has_api_clients");
      return endMembership(model, member);
    },
  },
  "platform GET /organizations/{organization_id}/users": {
    query: PAGE,
    play(model, request) {
      const members = membersOf(model, organizationOf(model, request));
      return page("users", members, request, (member) => shownUser(model, member));
    },
  },
  "platform POST /organizations/{organization_id}/users": {
    body: resource("user", {
      email: required(EMAIL),
      display_name: required(NAME),
      roles: required(ROLE_NAMES),
      assists: ASSISTS,
      returning_user_id: MEMBER,
    }),
    play(model, request) {
      const organization = organizationOf(model, request);
      const { assists = [], returning_user_id, ...fields } = request.body.user;
      if (accountOf(model, organization, fields.email)) throw unprocessable("account_exists");
      const former = membersOf(model, organization).find(({ id }) => id === returning_user_id);
      if (returning_user_id !== undefined && former?.roles.length !== 0)
        throw unprocessable("not_a_former_member");
      const newcomer = { id: 0, organization, assists: [], ...former, ...fields };
      const assisted = requireAssists(model, newcomer, assists);
      const member = join(model, former, { organization, ...fields });
      member.assists = assisted;
      withdrawInvitesTo(model, organization, fields.email);
      return createdUser(model, member);
    },
  },
  "platform PUT /organizations/{organization_id}/users/{organization_user_id}": {
    path: aMember,
    changesRights: true,
    body: resource("user", CHANGES),
    play(model, request) {
      const member = memberOfPath(model, request);
      changeMember(model, member, request.body.user);
      return shownUser(model, member);
    },
  },
  "platform DELETE /organizations/{organization_id}/users/{organization_user_id}": {
    path: aMember,
    changesRights: true,
    play(model, request) {
      const member = memberOfPath(model, request);
      if (member.roles.length === 0) found(undefined);
      return endMembership(model, member);
    },
  },
};
