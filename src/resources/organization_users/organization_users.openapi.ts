import type * as z from "zod";
import { CLIENT_KNOWN_FOR } from "../../limits.ts";
import { type Fields, onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { ANN, CLINIC, FRED, OLGA, PAULA, PAULAS_ROOM, SAM, SAMS_ROOM } from "../../openapi/story.ts";
import { noOrganization, organizationParameter } from "../organizations/organizations.openapi.ts";
import { createdUserSchema, organizationUserSchema, userSchema } from "./organization_users.responses.ts";

type OrganizationUser = z.input<typeof organizationUserSchema>;
type CreatedUser = z.input<typeof createdUserSchema>;
type User = z.input<typeof userSchema>;

const olga: OrganizationUser = { ...OLGA, roles: ["organization_admin"] };
const paula: OrganizationUser = { ...PAULA, roles: ["provider"] };
const sam: OrganizationUser = { ...SAM, roles: ["provider"] };
const ann: OrganizationUser = { ...ANN, roles: ["provider_assistant"] };
const fred: OrganizationUser = { ...FRED, roles: [] };

const created = (user: OrganizationUser): CreatedUser => ({
  ...user,
  organization_id: CLINIC.id,
  waiting_room_slug: null,
});

const createdPaula: CreatedUser = { ...created(paula), waiting_room_slug: PAULAS_ROOM.slug };

const annOfPaula: User = { ...created(ann), assists: [PAULA.id] };

const promotedAnn: User = {
  ...created(ann),
  display_name: "Ann Admin",
  roles: ["organization_admin"],
  assists: [],
};

const fields: Fields = {
  "user.display_name": "The name of the person in this organization. Spaces at its ends are removed.",
  "user.roles": "The roles, in any order. One that is repeated counts once.",
  "user.assists":
    "The `id`s (not the `user_id`s) of the organization users whom the person assists. They must have the role `provider`. Only a provider_assistant can have any.",
};

const parameters = {
  id: organizationParameter,
  organization_user_id: {
    description: "The id of the organization user: the `id`, not the `user_id`.",
    example: ANN.id,
  },
};

const noMember = { 404: [...noOrganization[404], "Organization user not found"] };

const wrongAssists = [
  "user.assists: is for those who have the role provider_assistant",
  "user.assists: must name providers of the organization",
];

export const organizationUsersReference: Reference = {
  tag: "Organization users",
  description:
    "The people who belong to an organization. A person can belong to several, and is a different organization user in each. Paths, and fields named `organization_user_id`, have the `id` of the organization user; every `user_id` is that of the person. When a membership ends, the organization user stays, without roles, and so do its calls.",
  external: {
    "GET /organization_users": {
      operationId: "listOrganizationUsers",
      summary: "List the organization users that the client has access to",
      description:
        "These are the organization users whose calls the client can read. An organization_admin has access to every organization user. A provider has access only to itself. A provider_assistant has access to itself and to the providers it assists. With several roles, a user has the access of each. The list is ordered by id.",
      status: 200,
      response: {
        schema: pageOf("organization_users", organizationUserSchema),
        examples: {
          "A client of an organization_admin. One membership has ended": {
            organization_users: [olga, paula, sam, ann, fred],
            pagination: onePage(5),
          },
          "A client of the assistant Ann": { organization_users: [paula, ann], pagination: onePage(2) },
          "A page past the end": {
            organization_users: [],
            pagination: { ...onePage(5), current_page: 2 },
          },
        },
      },
    },
  },
  platform: {
    "GET /organizations/:id/users": {
      operationId: "listUsers",
      summary: "List the users of an organization",
      description:
        "Users whose membership has ended are in the list, with no roles. The list is ordered by id.",
      status: 200,
      parameters: { id: organizationParameter },
      response: {
        schema: pageOf("users", userSchema),
        examples: {
          "An administrator, two providers, an assistant and a former user": {
            users: [
              { ...created(olga), assists: [] },
              { ...createdPaula, assists: [] },
              { ...created(sam), waiting_room_slug: SAMS_ROOM.slug, assists: [] },
              annOfPaula,
              { ...created(fred), assists: [] },
            ],
            pagination: onePage(5),
          },
          "An organization without users": { users: [], pagination: onePage(0) },
        },
      },
      errors: noOrganization,
    },
    "POST /organizations/:id/users": {
      operationId: "createUser",
      summary: "Add a user to an organization",
      description:
        "The person can sign in at once: there is no invite to accept. A user with the role `provider` gets a personal waiting room, which has the person's name and is active. Somebody whose membership has ended becomes the same organization user again: with the same id, the same personal waiting room and the new display name. The API clients of that user stay revoked.",
      status: 201,
      parameters: { id: organizationParameter },
      request: {
        fields: {
          ...fields,
          user: "The user.",
          "user.email":
            "The email address of the person, with which the identity provider knows them. It is stored and compared in lower case, without spaces at its ends. In the whole service, one email is one person. It cannot be changed later.",
          "user.assists": `${fields["user.assists"]} Without this field, nobody is assisted.`,
        },
        examples: {
          "A provider": {
            user: { email: PAULA.email, display_name: PAULA.display_name, roles: ["provider"] },
          },
          "Her assistant": {
            user: {
              email: ANN.email,
              display_name: ANN.display_name,
              roles: ["provider_assistant"],
              assists: [PAULA.id],
            },
          },
        },
      },
      response: {
        schema: createdUserSchema,
        examples: { "A provider": createdPaula, "Her assistant": created(ann) },
      },
      errors: {
        ...noOrganization,
        422: [
          "user.email: belongs to a user of the organization already; to change the user, use PUT",
          ...wrongAssists,
        ],
      },
    },
    "PUT /organizations/:id/users/:organization_user_id": {
      operationId: "updateUser",
      summary: "Change a user of an organization",
      description: `Fields that are left out keep their values. The email cannot be changed. A user who becomes a provider gets a personal waiting room, or the same one back as before. A user who is no longer a provider loses it: those who wait there have left, and the subs that the user fills are empty; assistants keep their access to the user's calls. A user who is no longer a provider_assistant assists nobody. API clients that act as the user have the new roles within ${CLIENT_KNOWN_FOR / 1000} seconds.`,
      status: 200,
      parameters,
      request: {
        fields: {
          user: "What to change. An empty object changes nothing.",
          "user.display_name": `${fields["user.display_name"]} The personal waiting room keeps its name.`,
          "user.roles": `${fields["user.roles"]} They replace all roles that the user had.`,
          "user.assists": `${fields["user.assists"]} The list replaces the one before; an empty list: nobody. Those who were in the list before can stay there, even without the role \`provider\`.`,
        },
        examples: {
          "Whom an assistant assists": { user: { assists: [PAULA.id] } },
          "Another name and another role": {
            user: { display_name: promotedAnn.display_name, roles: promotedAnn.roles },
          },
        },
      },
      response: {
        schema: userSchema,
        examples: {
          "Whom an assistant assists": annOfPaula,
          "Another name and another role": promotedAnn,
        },
      },
      refusals: { 404: "The organization or the user does not exist, or the membership has ended." },
      errors: {
        ...noMember,
        422: ["user.roles: must name at least one role; to end the membership, use DELETE", ...wrongAssists],
      },
    },
    "DELETE /organizations/:id/users/:organization_user_id": {
      operationId: "endMembership",
      summary: "End the membership of a user",
      description: `The user can no longer sign in; codes that were not redeemed are void. API clients that act as the user are revoked: they are refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds. Pending invites for the email are removed, and bulk invites that are still in the queue create none. The subs that the user fills are empty, and the user assists nobody. The personal waiting room is retired, and those who wait there have left. A call that is going on there goes on and can be reported. The organization user stays in lists, without roles, and its calls can be read as before. The person can come back by a new invite, or by \`POST /organizations/{id}/users\`. Other organizations of the person are not affected.`,
      status: 204,
      parameters,
      refusals: {
        404: "The organization or the user does not exist, or the membership has already ended.",
      },
      errors: noMember,
    },
  },
};
