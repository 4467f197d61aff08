import type * as z from "zod";
import { CLIENT_KNOWN_FOR } from "../../limits.ts";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { createdUserSchema, organizationUserSchema, userSchema } from "./organization_users.responses.ts";

const user: z.input<typeof organizationUserSchema> = {
  id: 12,
  user_id: 34,
  email: "paula@example.com",
  display_name: "Paula Provider",
  roles: ["provider"],
};

const createdUser: z.input<typeof createdUserSchema> = {
  ...user,
  organization_id: 1,
  waiting_room_slug: "riverside-clinic--paula-provider",
};

const assistant: z.input<typeof userSchema> = {
  id: 13,
  user_id: 35,
  email: "ann@example.com",
  display_name: "Ann Assistant",
  roles: ["provider_assistant"],
  organization_id: 1,
  waiting_room_slug: null,
  assists: [12],
};

const fields = {
  id: "The id of the organization user, for use in paths.",
  user_id: "The id of the person. It is the same in every organization that the person belongs to.",
  email: "The email address of the person.",
  display_name: "The name of the person in this organization.",
  roles: "The roles of the person in this organization, lowest first. None if the membership has ended.",
};

const createdUserFields = {
  ...fields,
  organization_id: "The id of the organization.",
  waiting_room_slug: "The slug of the personal waiting room; null for a user without the role `provider`.",
};

export const organizationUsersReference: Reference = {
  tag: "Organization users",
  description:
    "The people who belong to an organization. Paths contain the `id` of the organization user, not the `user_id` of the person. When a membership ends, the organization user stays, without roles, and so do its calls.",
  schemas: {
    OrganizationUser: {
      schema: organizationUserSchema,
      description: "A person who belongs to the organization.",
      fields,
    },
    CreatedUser: {
      schema: createdUserSchema,
      description: "A person who belongs to an organization, with the slug of the personal waiting room.",
      fields: createdUserFields,
    },
    User: {
      schema: userSchema,
      description:
        "A person who belongs to an organization, with the slug of the personal waiting room and the providers whom the person assists.",
      fields: {
        ...createdUserFields,
        assists: "The ids of the organization users whom the person assists, in ascending order.",
      },
    },
  },
  external: {
    "GET /organization_users": {
      operationId: "listOrganizationUsers",
      summary: "List the organization users that the client has access to",
      description:
        "An organization_admin has access to every organization user. A provider has access only to itself. A provider_assistant has access to itself and to the providers it assists. The list is ordered by id.",
      status: 200,
      response: {
        schema: pageOf("organization_users", organizationUserSchema),
        example: { organization_users: [user], pagination: onePage(1) },
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
      response: {
        schema: pageOf("users", userSchema),
        example: {
          users: [{ ...createdUser, assists: [] }, assistant],
          pagination: onePage(2),
        },
      },
    },
    "POST /organizations/:id/users": {
      operationId: "createUser",
      summary: "Add a user to an organization",
      description:
        "A user with the role `provider` also gets a personal waiting room. `assists` lists the ids of the organization users whom a provider_assistant assists; they must be providers. Somebody whose membership has ended becomes the same organization user again: with the same id, the same personal waiting room and the new display name. The API clients of that user stay revoked.",
      status: 201,
      request: {
        fields: {},
        example: {
          user: { email: "paula@example.com", display_name: "Paula Provider", roles: ["provider"] },
        },
      },
      response: { schema: createdUserSchema, example: createdUser },
      refusals: {
        422: "The email already belongs to a user of the organization, `assists` contains an id that is not a provider of the organization, or `assists` is given for a user who is not a provider_assistant.",
      },
    },
    "PUT /organizations/:id/users/:organization_user_id": {
      operationId: "updateUser",
      summary: "Change a user of an organization",
      description: `A field that is left out stays. \`roles\` replaces all roles: a user who becomes a provider gets a personal waiting room, or the same one back as before. A user who is no longer a provider loses the room: those who wait there have left, and the subs that the user fills are empty. Who assists the user keeps access to the calls. \`assists\` replaces the whole list; a user who is no longer a provider_assistant assists nobody. A new display name does not rename the personal waiting room. API clients that act as the user have the new roles within ${CLIENT_KNOWN_FOR / 1000} seconds.`,
      status: 200,
      request: { fields: {}, example: { user: { roles: ["provider_assistant"], assists: [12] } } },
      response: { schema: userSchema, example: assistant },
      refusals: {
        404: "The organization or the user does not exist, or the membership has ended.",
        422: "`roles` is empty, `assists` contains an id that is not a provider of the organization, or `assists` is given for a user who is not a provider_assistant. An id that was in `assists` before can stay there.",
      },
    },
    "DELETE /organizations/:id/users/:organization_user_id": {
      operationId: "endMembership",
      summary: "End the membership of a user",
      description: `The user can no longer sign in; codes that were not redeemed are void. API clients that act as the user are revoked: they are refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds. Pending invites for the email are removed, and bulk invites that are still in the queue create none. The subs that the user fills are empty, and the user assists nobody. The personal waiting room is retired, and those who wait there have left. A call that is going on there goes on and can be reported. The organization user stays in lists, without roles, and its calls can be read as before. The person can come back by a new invite, or by \`POST /organizations/{id}/users\`. Other organizations of the person are not affected.`,
      status: 204,
      refusals: {
        404: "The organization or the user does not exist, or the membership has already ended.",
      },
    },
  },
};
