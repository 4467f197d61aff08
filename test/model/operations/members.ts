import { EMAIL, list, NAME, object, oneOf, required } from "../kinds.ts";
import {
  type Answer,
  idOf,
  type Member,
  type Model,
  type Organization,
  type Role,
  unprocessable,
} from "../model.ts";
import { bodyId, type Operations } from "../operation.ts";
import { organizationOf } from "./organizations.ts";
import { newRoom } from "./rooms.ts";

export const ROLES: Role[] = ["provider_assistant", "provider", "organization_admin"];

const sorted = (roles: readonly Role[]) => ROLES.filter((role) => roles.includes(role));

export const ROLE_NAMES = { ...list(oneOf(ROLES), 1, 10, 3), read: sorted };

const shown = (model: Model, member: Member) => ({
  id: idOf(member),
  user_id: idOf(member),
  email: member.email,
  display_name: member.display_name,
  roles: member.roles,
  assists: member.assists,
  waiting_room_slug: model.personalRoomOf(member)?.slug ?? null,
});

const shownUser = (model: Model, member: Member) => ({
  ...shown(model, member),
  organization_id: member.organization.id,
});

const membersOf = (model: Model, organization: Organization) =>
  model.members.filter((member) => member.organization === organization);

const isProvider = ({ roles }: Member) => roles.includes("provider");

/** Gives a provider the personal room, and takes it from anybody else. */
function writeRoom(model: Model, member: Member): void {
  const room = model.rooms.find(({ owner }) => owner === member);
  if (isProvider(member)) {
    if (room?.is_retired) Object.assign(room, { is_retired: false, updated_at: model.now });
    if (!room)
      newRoom(model, {
        organization: member.organization,
        owner: member,
        name: member.display_name,
        is_active: true,
      });
  }
}

const hasAccount = (model: Model, organization: Organization, email: string | null | undefined) =>
  membersOf(model, organization).find((member) => member.email === email && member.roles.length > 0);

const ASSISTS = list(
  bodyId((model) => model.members),
  0,
  1000,
);

/** @throws Refusal 422 if the member cannot assist them */
function requireAssists(model: Model, member: Member, assists: number[]): number[] {
  if (assists.length > 0 && !member.roles.includes("provider_assistant"))
    throw unprocessable("not_an_assistant");
  const possible = membersOf(model, member.organization)
    .filter(isProvider)
    .map(({ id }) => id);
  if (!assists.every((id) => possible.includes(id) || member.assists.includes(id)))
    throw unprocessable("not_a_provider");
  return [...new Set(assists)].sort((one, other) => one - other);
}

export const MEMBERS: Operations = {
  "platform POST /organizations/{organization_id}/users": {
    body: object({
      user: required(
        object({
          email: required(EMAIL),
          display_name: required(NAME),
          roles: required(ROLE_NAMES),
          assists: ASSISTS,
          returning_user_id: bodyId((model) => model.members),
        }),
      ),
    }),
    play(model, request): Answer {
      const organization = organizationOf(model, request);
      const { assists = [], returning_user_id, ...fields } = request.body.user;
      if (hasAccount(model, organization, fields.email)) throw unprocessable("account_exists");
      const former = membersOf(model, organization).find(({ id }) => id === returning_user_id);
      if (returning_user_id !== undefined && former?.roles.length !== 0)
        throw unprocessable("not_a_former_member");
      const member: Member = { id: 0, organization, assists: [], ...former, ...fields };
      member.assists = requireAssists(model, member, assists);
      const written = former ? Object.assign(former, member) : member;
      if (!former) model.members.push(member);
      writeRoom(model, written);
      const { assists: _, ...body } = shownUser(model, written);
      return { status: 201, body };
    },
  },
};
