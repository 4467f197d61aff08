import type * as z from "zod";
import { invalidBody } from "../../http/errors.ts";
import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidClient } from "../../organization/api_clients/api_clients.refusals.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { administratorNotAssignable } from "../../organization/roles/roles.policy.ts";
import { tooManyReserved } from "../../organization/usage/usage.refusals.ts";
import * as refusals from "./organization_users.refusals.ts";
import { createdUserSchema, organizationUserSchema, userSchema } from "./organization_users.responses.ts";
import { createUserBody } from "./organization_users.schemas.ts";

const paula = exampleOf(userSchema);
type User = typeof paula;
const sam: User = { ...paula, ...story.SAM, waiting_room_slug: story.SAMS_ROOM.slug };
const petra: User = { ...paula, ...story.PETRA, waiting_room_slug: story.PETRAS_ROOM.slug };
const withoutRoom: User = { ...paula, waiting_room_slug: null };
const olga: User = { ...withoutRoom, ...story.OLGA, roles: ["organization_admin"] };
const ann: User = { ...withoutRoom, ...story.ANN, roles: ["provider_assistant"], assists: [story.PAULA.id] };
const promotedAnn: User = { ...olga, ...story.ANN, display_name: "Ann Admin" };
const fred: User = { ...withoutRoom, ...story.FRED, roles: [] };
const returnedFred: User = { ...fred, roles: ["provider_assistant"] };

const createdUserExample = (user: User) => createdUserSchema.parse(user);

const MEMBER_ID = "The id of the organization user.";
const ANN_ID = { description: MEMBER_ID, example: story.ANN.id };

const IN_60_SECONDS = `within ${CLIENT_KNOWN_FOR / 1000} seconds`;

const CHANGE = `Omitted fields keep their values. \`roles\` and \`assists\` replace the current lists. Users whom the user already assists can stay on the list even without the role \`provider\`. A new name does not change the name of the personal waiting room. After a change of email, the person signs in with a token for the new email; pending invites for it are deleted. A user who becomes a provider gets a personal waiting room, or their earlier one back. A user who is no longer a provider loses it, and the subs that the user fills become empty; while people wait there or a call is in progress there, the role cannot be taken away (422). Assistants keep their access to the user's calls. A user who is no longer a provider_assistant assists nobody. Pending work that the user may no longer request is withdrawn: pending invites with higher roles are deleted, queued rows of bulk invites with higher roles fail, and the webhook endpoints of a former organization_admin are deactivated. API clients that act as the user have the new roles ${IN_60_SECONDS}. After the membership has ended, only \`display_name\` and \`email\` can change, and null clears the email, so that nothing names the person any more.`;

const REMOVAL = `The user can no longer sign in; unredeemed codes become void. API clients that act as the user are revoked: they are refused everywhere ${IN_60_SECONDS}. Pending invites for the email, or for the return of this user, are deleted, and queued bulk invites create no new one. After that, the email is free: whoever joins with it becomes a new organization user. The user's own work is withdrawn: pending invites that the user sent are deleted, queued rows of their bulk invites fail, and their webhook endpoints are deactivated until another organization_admin activates them. The subs that the user fills become empty, the user assists nobody, and nobody assists the user. The personal waiting room is retired, and the people waiting there count as having left. An ongoing call there continues and can be reported. The organization user stays in lists, without roles, and its calls can still be read.`;

const OTHER_ORGANIZATIONS = "The person's accounts in other organizations do not change.";

/** @param wrapper the request's field that holds the person */
const personFields = (wrapper: "user" | "organization_user") => ({
  [`${wrapper}.roles`]: "The roles, in any order. Duplicates count once.",
  [`${wrapper}.assists`]:
    "The ids of the organization users whom the person assists. They must have the role `provider`. Only a provider_assistant can assist others.",
});

const changeOf = (wrapper: "user" | "organization_user", schema: z.ZodObject) => ({
  request: {
    fields: { [wrapper]: "The fields to change. An empty object changes nothing.", ...personFields(wrapper) },
    examples: {
      "A new name and a new role": {
        [wrapper]: { display_name: promotedAnn.display_name, roles: promotedAnn.roles },
      },
      "The providers whom an assistant assists": { [wrapper]: { assists: ann.assists } },
      "A new email": { [wrapper]: { email: "ann.new@example.com" } },
    },
  },
  response: { schema, example: schema.parse(promotedAnn) },
});

const changeErrors = (wrapper: "user" | "organization_user") => [
  refusals.organizationUserNotFound(),
  invalidBody(`${wrapper}.roles: ${refusals.NO_ROLE_LEFT}`),
  refusals.notAnAssistant(wrapper),
  refusals.assistsNonProvider(wrapper, 0),
  refusals.providerInUse(wrapper),
  refusals.emailTaken(wrapper),
  refusals.memberNeedsEmail(wrapper),
  refusals.formerMemberStays(wrapper, "roles"),
  refusals.formerMemberStays(wrapper, "assists"),
];

export const organizationUsersReference: Reference = {
  tag: "Organization users",
  parameters: { id: ANN_ID, organization_user_id: ANN_ID },
  description:
    "The people who belong to an organization. A person can belong to several organizations, and is a different organization user in each. Paths and fields named `organization_user_id` hold the `id` of the organization user; every `user_id` is the `user_id` of the person. When a membership ends, the organization user stays, without roles, and so do its calls.",
  external: {
    "GET /organization_users": {
      operationId: "listOrganizationUsers",
      summary: "List the organization users that the client has access to",
      description:
        "Lists the organization users whose calls the client can read. An organization_admin has access to every organization user. A provider has access only to itself. A provider_assistant has access to itself and to the providers it assists. With several roles, a user has the access of each. The list is ordered by id.",
      parameters: {
        email: {
          description:
            "Only the member with this email, in upper or lower case. Former users are not found by email.",
          example: story.PAULA.email,
        },
        role: { description: "Only organization users with this role.", example: "provider" },
      },
      response: pageResponse("organization_users", organizationUserSchema, {
        "A client of an organization_admin. One membership has ended": [olga, paula, sam, ann, fred].map(
          (user) => organizationUserSchema.parse(user),
        ),
      }),
    },
    "GET /organization_users/:id": {
      operationId: "getOrganizationUser",
      summary: "Get an organization user",
      description:
        "You can get any organization user that `GET /organization_users` lists. Events refer to organization users by this id.",
      parameters: { id: { description: MEMBER_ID, example: story.PAULA.id } },
      response: { schema: organizationUserSchema },
      errors: [refusals.organizationUserNotFound()],
    },
    "PUT /organization_users/:id": {
      operationId: "updateOrganizationUser",
      summary: "Update an organization user",
      description: `${CHANGE} The client's own user must keep the role \`organization_admin\`.`,
      ...changeOf("organization_user", organizationUserSchema),
      errors: [
        ...changeErrors("organization_user"),
        refusals.clientDemotesItsUser(),
        refusals.administratorBeyondOwn(),
        administratorNotAssignable("organization_user.roles"),
        tooManyReserved(),
        invalidClient(),
      ],
    },
    "DELETE /organization_users/:id": {
      operationId: "removeOrganizationUser",
      summary: "End the membership of an organization user",
      description: `${REMOVAL} To let the person return as the same user, send an invite with \`returning_user_id\`. ${OTHER_ORGANIZATIONS} The client's own user cannot be removed.`,
      parameters: {
        revoke_api_clients: {
          description:
            "Whether to revoke the API clients that act as this user. Without it, a user that API clients act as is not removed, because integrations would stop working.",
          example: true,
        },
      },
      errors: [
        refusals.organizationUserNotFound(),
        refusals.clientRemovesItsUser(),
        refusals.administratorBeyondOwn(),
        refusals.clientsActAsUser([5]),
        invalidClient(),
      ],
    },
  },
  platform: {
    "GET /organizations/:organization_id/users": {
      operationId: "listUsers",
      summary: "List the users of an organization",
      description: "Includes users whose membership has ended, without roles. Ordered by id.",
      response: pageResponse("users", userSchema, {
        "An administrator, two providers, an assistant and a former user": [olga, paula, sam, ann, fred],
      }),
      errors: [organizationNotFound()],
    },
    "POST /organizations/:organization_id/users": {
      operationId: "createUser",
      summary: "Add a user to an organization",
      description:
        "The person can sign in at once, without accepting an invite; unused invites for the email are deleted. Without `assists`, the person assists nobody. A user with the role `provider` gets an active personal waiting room with the person's name. To let a former user return as the same organization user, add `returning_user_id`: the user keeps the id, the calls and the personal waiting room, gets the name, email, roles and assists of the request, and the old API clients stay revoked. Without it, the person becomes a new organization user, even if a former one had the same email.",
      request: {
        fields: personFields("user"),
        examples: {
          "A provider": exampleBody(createUserBody(), createdUserExample(petra)),
          "A provider's assistant": exampleBody(createUserBody(), ann),
          "An administrator": exampleBody(createUserBody(), createdUserExample(olga)),
          "A former user who returns": exampleBody(createUserBody(), {
            ...createdUserExample(returnedFred),
            returning_user_id: fred.id,
          }),
        },
      },
      response: {
        schema: createdUserSchema,
        examples: { "A provider": createdUserExample(petra), "An administrator": createdUserExample(olga) },
      },
      errors: [
        organizationNotFound(),
        refusals.emailHasAccount(),
        refusals.notFormerMember("user"),
        refusals.notAnAssistant("user"),
        refusals.assistsNonProvider("user", 0),
      ],
    },
    "PUT /organizations/:organization_id/users/:organization_user_id": {
      operationId: "updateUser",
      summary: "Update a user of an organization",
      description: CHANGE,
      ...changeOf("user", userSchema),
      errors: [organizationNotFound(), ...changeErrors("user")],
    },
    "DELETE /organizations/:organization_id/users/:organization_user_id": {
      operationId: "endMembership",
      summary: "End the membership of a user",
      description: `${REMOVAL} To let the person return as the same user, use \`returning_user_id\` in an invite, or in \`POST /organizations/{organization_id}/users\`. ${OTHER_ORGANIZATIONS}`,
      errors: [organizationNotFound(), refusals.organizationUserNotFound()],
    },
  },
};
