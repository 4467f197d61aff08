import type * as z from "zod";
import { DEFAULT_INVITE_VALIDITY_DAYS, MAX_INVITE_VALIDITY_DAYS } from "../../limits.ts";
import { type Fields, onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import {
  ACCEPTED_AT,
  CLINIC,
  INES,
  INESS_ROOM,
  INVITE_ID,
  INVITED_AT,
  SET_UP_AT,
} from "../../openapi/story.ts";
import { createdUserSchema } from "../organization_users/organization_users.responses.ts";
import { inviteSchema, inviteWithAcceptUrlSchema } from "./invites.responses.ts";

type Invite = z.input<typeof inviteSchema>;

const pending: Invite = {
  id: INVITE_ID,
  email: INES.email,
  display_name: INES.display_name,
  roles: ["provider"],
  organization_id: CLINIC.id,
  organization_name: CLINIC.name,
  expires_at: "2026-02-06T14:00:00.000Z",
  used_at: null,
  created_at: INVITED_AT,
  updated_at: INVITED_AT,
};

const used: Invite = { ...pending, used_at: ACCEPTED_AT, updated_at: ACCEPTED_AT };

const expired: Invite = {
  ...pending,
  id: 80,
  email: "otto@example.com",
  display_name: "Otto Overdue",
  expires_at: "2026-01-12T08:00:00.000Z",
  created_at: SET_UP_AT,
  updated_at: SET_UP_AT,
};

const token =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6Imludml0ZStqd3QifQ.eyJzdWIiOiI4MSIsIm9yZ2FuaXphdGlvbl9pZCI6MSwiY3JlYXRlZF9hdCI6MTc2OTc4MTYwMDAwMH0.YSBzaWduYXR1cmUgdGhhdCBoYXMgdGhpcnR5LXR3byA";

/** What a row of a bulk invite has too. */
export const inviteFields = (path: string): Fields => ({
  [`${path}.email`]:
    "The email address of the invitee, with which the identity provider knows them. It is stored and compared in lower case, without spaces at its ends.",
  [`${path}.display_name`]:
    "The name that the invitee gets in the organization. Spaces at its ends are removed.",
  [`${path}.role_names`]:
    "The roles that the invitee gets, in any order. One that is repeated counts once. They must be at or below the client's permission level: see `GET /roles`.",
});

const parameters = { id: { description: "The id of the invite.", example: INVITE_ID } };

const noInvite = { 404: ["Invite not found"] };

export const invitesReference: Reference = {
  tag: "Invites",
  description: `Invitations to join the organization. The service sends no mail: the video platform mails the invitee a link. Until the invitee opens it and accepts, the invite is pending; it expires ${DEFAULT_INVITE_VALIDITY_DAYS} days after its creation, unless the operator chose another number of days (1 to ${MAX_INVITE_VALIDITY_DAYS}). An email has at most one active invite: one that is neither used nor expired. Used and expired invites can be read as before, by their ids.`,
  external: {
    "GET /invites": {
      operationId: "listInvites",
      summary: "List the active invites",
      description: "Invites that can still be accepted, ordered by id.",
      status: 200,
      response: {
        schema: pageOf("organization_invites", inviteSchema),
        examples: {
          "One invite": { organization_invites: [pending], pagination: onePage(1) },
          "After the invitee has accepted": { organization_invites: [], pagination: onePage(0) },
        },
      },
    },
    "POST /invites": {
      operationId: "createInvite",
      summary: "Create an invite",
      description:
        "An expired invite for the same email does not prevent a new one, and stays. Somebody whose membership has ended can be invited again. To send an invite anew before it expires, delete it and create another one.",
      status: 201,
      request: {
        fields: { organization_invite: "The invite.", ...inviteFields("organization_invite") },
        example: {
          organization_invite: {
            email: pending.email,
            display_name: pending.display_name,
            role_names: pending.roles,
          },
        },
      },
      response: { schema: inviteSchema, example: pending },
      errors: {
        422: [
          "organization_invite.email: has a pending invite; to send another one, delete it first",
          "organization_invite.email: has an account in the organization",
          "organization_invite.role_names: organization_admin is above your permission level; you may assign provider_assistant, provider",
        ],
      },
    },
    "GET /invites/:id": {
      operationId: "getInvite",
      summary: "Get an invite",
      description: "Any invite of the organization, including used and expired ones.",
      status: 200,
      parameters,
      response: {
        schema: inviteSchema,
        examples: { "A pending invite": pending, "A used invite": used, "An expired invite": expired },
      },
      errors: noInvite,
    },
    "DELETE /invites/:id": {
      operationId: "deleteInvite",
      summary: "Delete an invite",
      description:
        "Deletes an invite that was not used, expired or not. Its link no longer works. A used invite stays: to remove the user, ask the operator to end the membership.",
      status: 204,
      parameters,
      errors: { ...noInvite, 422: ["The invite was used: it cannot be removed"] },
    },
  },
  platform: {
    "GET /invites/:id": {
      operationId: "getInviteWithAcceptUrl",
      summary: "Get an invite with the link to accept it",
      description:
        "For the part of the platform that mails invites. Every request returns the same link, until the operator changes `INVITE_TOKEN_SECRET`. Used and expired invites have one too: look at `used_at` and `expires_at` before you mail it.",
      status: 200,
      parameters,
      response: {
        schema: inviteWithAcceptUrlSchema,
        examples: {
          "A pending invite": {
            ...pending,
            accept_url: `https://app.example.com/invites/accept?token=${token}`,
          },
        },
      },
      errors: noInvite,
    },
    "POST /invites/accept": {
      operationId: "acceptInvite",
      summary: "Accept an invite",
      description:
        "Makes the invitee a user of the organization, with a personal waiting room if the roles include `provider`. Somebody who became a user in the meantime keeps the account and the name, and gains the roles. Somebody whose membership has ended becomes the same organization user again. From now on, the user can sign in.",
      status: 200,
      request: {
        fields: { token: "The value of `token` in the query of the `accept_url`." },
        example: { token },
      },
      response: {
        schema: createdUserSchema,
        example: {
          ...INES,
          roles: ["provider"],
          organization_id: CLINIC.id,
          waiting_room_slug: INESS_ROOM.slug,
        },
      },
      refusals: {
        404: "The token is not valid, or its invite does not exist any more.",
      },
      errors: {
        ...noInvite,
        422: [
          "The invite was used; sign in instead, or ask for a new one",
          "The invite has expired; ask for a new one",
        ],
      },
    },
  },
};
