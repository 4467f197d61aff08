import type * as z from "zod";
import { unprocessable } from "../../http/errors.ts";
import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidClient } from "../api_clients/api_clients.refusals.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import {
  assistsNonProvider,
  clientDemotesItsUser,
  clientRemovesItsUser,
  clientsActAsUser,
  emailHasAccount,
  NO_ROLE_LEFT,
  notAnAssistant,
  organizationUserNotFound,
  providerInUse,
} from "./organization_users.refusals.ts";
import { createdUserSchema, organizationUserSchema, userSchema } from "./organization_users.responses.ts";
import { createUserBody } from "./organization_users.schemas.ts";

const paula = exampleOf(userSchema);
type User = typeof paula;
const sam: User = { ...paula, ...story.SAM, waiting_room_slug: story.SAMS_ROOM.slug };
const withoutRoom: User = { ...paula, waiting_room_slug: null };
const olga: User = { ...withoutRoom, ...story.OLGA, roles: ["organization_admin"] };
const ann: User = { ...withoutRoom, ...story.ANN, roles: ["provider_assistant"], assists: [story.PAULA.id] };
const promotedAnn: User = { ...olga, ...story.ANN, display_name: "Ann Admin" };
const fred: User = { ...withoutRoom, ...story.FRED, roles: [] };

const userExample = (user: User) => organizationUserSchema.parse(user);
const createdUserExample = (user: User) => createdUserSchema.parse(user);

const MEMBER_ID = "The id of the organization user.";

const parameters = { organization_user_id: { description: MEMBER_ID, example: story.ANN.id } };

const IN_60_SECONDS = `within ${CLIENT_KNOWN_FOR / 1000} seconds`;

/** What both APIs do. */
const CHANGE = `Fields that are left out keep their values. \`roles\` and \`assists\` replace the lists before. Those whom the user assisted before can stay on the list, even without the role \`provider\`. A new name does not change the name of the personal waiting room. A user who becomes a provider gets a personal waiting room, or the same one back as before. A user who is no longer a provider loses it: those who wait there have left, and the subs that the user fills are empty; assistants keep their access to the user's calls. A user who is no longer a provider_assistant assists nobody. What the user asked for and may no longer ask for is withdrawn: pending invites that give higher roles are removed, such rows of bulk invites that are still in the queue fail, and the webhook endpoints of somebody who is no longer an organization_admin are turned off. API clients that act as the user have the new roles ${IN_60_SECONDS}.`;

const REMOVAL = `The user can no longer sign in; codes that were not redeemed are void. API clients that act as the user are revoked: they are refused everywhere ${IN_60_SECONDS}. Pending invites for the email are removed, and bulk invites that are still in the queue create none. What the user made goes too: the pending invites that the user sent are removed, the rows of their bulk invites that are still in the queue fail, and their webhook endpoints are turned off, until another organization_admin turns them on. The subs that the user fills are empty, and the user assists nobody. The personal waiting room is retired, and those who wait there have left. A call that is going on there goes on and can be reported. The organization user stays in lists, without roles, and its calls can be read as before.`;

const OTHER_ORGANIZATIONS = "Accounts that the person has in other organizations stay as they are.";

/** @param wrapper the field of the request that holds the person */
const personFields = (wrapper: "user" | "organization_user") => ({
  [`${wrapper}.roles`]: "The roles, in any order. One that is repeated counts once.",
  [`${wrapper}.assists`]:
    "The ids of the organization users whom the person assists. They must have the role `provider`. Only a provider_assistant can have any.",
});

/** The change of a person, by the field of the request that holds it, and how the response shows the person. */
const changeOf = (wrapper: "user" | "organization_user", schema: z.ZodObject) => ({
  request: {
    fields: { [wrapper]: "What to change. An empty object changes nothing.", ...personFields(wrapper) },
    examples: {
      "Whom an assistant assists": { [wrapper]: { assists: ann.assists } },
      "Another name and another role": {
        [wrapper]: { display_name: promotedAnn.display_name, roles: promotedAnn.roles },
      },
    },
  },
  response: {
    schema,
    examples: {
      "Whom an assistant assists": schema.parse(ann),
      "Another name and another role": schema.parse(promotedAnn),
    },
  },
});

const changeErrors = (wrapper: "user" | "organization_user") => [
  organizationUserNotFound(),
  unprocessable(`${wrapper}.roles: ${NO_ROLE_LEFT}`),
  notAnAssistant(wrapper),
  assistsNonProvider(wrapper),
  providerInUse(wrapper),
];

const NOT_AN_ADMIN = "The client does not act as an organization_admin, or there is no such member";

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
      response: pageResponse(
        "organization_users",
        organizationUserSchema,
        {
          "A client of an organization_admin. One membership has ended": [olga, paula, sam, ann, fred].map(
            userExample,
          ),
          "A client of the assistant Ann": [paula, ann].map(userExample),
        },
        5,
      ),
    },
    "GET /organization_users/:id": {
      operationId: "getOrganizationUser",
      summary: "Get an organization user",
      description:
        "The organization users that the client has access to are those of the list. Events name organization users by this id.",
      parameters: { id: { description: MEMBER_ID, example: story.PAULA.id } },
      response: {
        schema: organizationUserSchema,
        examples: {
          "A provider": userExample(paula),
          "An assistant": userExample(ann),
          "A former user": userExample(fred),
        },
      },
      errors: [organizationUserNotFound()],
    },
    "PUT /organization_users/:id": {
      operationId: "updateOrganizationUser",
      summary: "Change an organization user",
      description: `${CHANGE} The client's own user must keep the role \`organization_admin\`.`,
      parameters: { id: { description: MEMBER_ID, example: story.ANN.id } },
      ...changeOf("organization_user", organizationUserSchema),
      refusals: { 404: `${NOT_AN_ADMIN}, or the membership has ended.` },
      errors: [...changeErrors("organization_user"), clientDemotesItsUser(), invalidClient()],
    },
    "DELETE /organization_users/:id": {
      operationId: "removeOrganizationUser",
      summary: "End the membership of an organization user",
      description: `${REMOVAL} The person can come back by a new invite. ${OTHER_ORGANIZATIONS} The client's own user cannot be removed.`,
      parameters: {
        id: { description: MEMBER_ID, example: story.SAM.id },
        revoke_api_clients: {
          description:
            "Whether the API clients that act as this user may be revoked with the membership. Without it, somebody as whom clients act stays: an integration would stop with them.",
          example: true,
        },
      },
      refusals: { 404: `${NOT_AN_ADMIN}, or the membership has already ended.` },
      errors: [organizationUserNotFound(), clientRemovesItsUser(), clientsActAsUser([5]), invalidClient()],
    },
  },
  platform: {
    "GET /organizations/:organization_id/users": {
      operationId: "listUsers",
      summary: "List the users of an organization",
      description:
        "Users whose membership has ended are in the list, with no roles. The list is ordered by id.",
      response: pageResponse("users", userSchema, {
        "An administrator, two providers, an assistant and a former user": [olga, paula, sam, ann, fred],
        "An organization without users": [],
      }),
      errors: [organizationNotFound()],
    },
    "POST /organizations/:organization_id/users": {
      operationId: "createUser",
      summary: "Add a user to an organization",
      description:
        "The person can sign in at once: there is no invite to accept, and invites for the email that were not used are removed. Without `assists`, the person assists nobody. A user with the role `provider` gets a personal waiting room, which has the person's name and is active. Somebody whose membership has ended becomes the same organization user again: with the same id, the same personal waiting room and the new display name. The API clients of that user stay revoked.",
      request: {
        fields: personFields("user"),
        examples: {
          "A provider": exampleBody(createUserBody(), createdUserExample(paula)),
          "Her assistant": exampleBody(createUserBody(), ann),
          "An administrator": exampleBody(createUserBody(), createdUserExample(olga)),
        },
      },
      response: {
        schema: createdUserSchema,
        examples: {
          "A provider": createdUserExample(paula),
          "Her assistant": createdUserExample(ann),
          "An administrator": createdUserExample(olga),
        },
      },
      errors: [organizationNotFound(), emailHasAccount(), notAnAssistant("user"), assistsNonProvider("user")],
    },
    "PUT /organizations/:organization_id/users/:organization_user_id": {
      operationId: "updateUser",
      summary: "Change a user of an organization",
      description: CHANGE,
      parameters,
      ...changeOf("user", userSchema),
      refusals: { 404: "The organization or the user does not exist, or the membership has ended." },
      errors: [organizationNotFound(), ...changeErrors("user")],
    },
    "DELETE /organizations/:organization_id/users/:organization_user_id": {
      operationId: "endMembership",
      summary: "End the membership of a user",
      description: `${REMOVAL} The person can come back by a new invite, or by \`POST /organizations/{organization_id}/users\`. ${OTHER_ORGANIZATIONS}`,
      parameters,
      refusals: { 404: "The organization or the user does not exist, or the membership has already ended." },
      errors: [organizationNotFound(), organizationUserNotFound()],
    },
  },
};
