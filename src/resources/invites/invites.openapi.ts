import type * as z from "zod";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { createdUserSchema } from "../organization_users/organization_users.responses.ts";
import { inviteSchema, inviteWithAcceptUrlSchema } from "./invites.responses.ts";

const invite: z.input<typeof inviteSchema> = {
  id: 81,
  email: "ines@example.com",
  display_name: "Ines Invited",
  roles: ["provider"],
  organization_id: 1,
  organization_name: "Riverside Clinic",
  expires_at: "2026-02-07T09:30:00.000Z",
  used_at: null,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

const token =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6Imludml0ZStqd3QifQ.eyJzdWIiOiI4MSIsIm9yZ2FuaXphdGlvbl9pZCI6MSwiY3JlYXRlZF9hdCI6MTc2OTg1MTgwMDAwMH0.c2lnbmF0dXJl";

const fields = {
  id: "The id of the invite.",
  email: "The invited email address, in lower case. Accepted is what an email field of HTML accepts.",
  display_name: "The name of the invitee in the organization.",
  roles: "The roles that the invitee gets, lowest first.",
  organization_id: "The organization that the invitee joins.",
  organization_name: "The name of this organization.",
  expires_at: "The invite can be accepted until this time.",
  used_at: "When the invite was accepted; null until then.",
  created_at: "When the invite was created.",
  updated_at: "When the invite last changed.",
};

export const invitesReference: Reference = {
  tag: "Invites",
  description:
    "Invitations to join the organization. An email has at most one active invite: one that is neither used nor expired. Expired invites stay, and can be read and deleted.",
  schemas: {
    Invite: { schema: inviteSchema, description: "An invitation to join the organization.", fields },
    InviteWithAcceptUrl: {
      schema: inviteWithAcceptUrlSchema,
      description: "An invitation, with the link to mail to the invitee.",
      fields: { ...fields, accept_url: "The link at which the invitee accepts the invite." },
    },
  },
  external: {
    "GET /invites": {
      operationId: "listInvites",
      summary: "List the active invites",
      description: "Invites that can still be accepted, ordered by id.",
      status: 200,
      response: {
        schema: pageOf("organization_invites", inviteSchema),
        example: { organization_invites: [invite], pagination: onePage(1) },
      },
    },
    "POST /invites": {
      operationId: "createInvite",
      summary: "Create an invite",
      description:
        "The email is stored and compared in lower case. An expired invite for the same email does not prevent a new one, and stays. The role names must be at or below the client's permission level: see `GET /roles`.",
      status: 201,
      request: {
        fields: {},
        example: {
          organization_invite: {
            email: "ines@example.com",
            display_name: "Ines Invited",
            role_names: ["provider"],
          },
        },
      },
      response: { schema: inviteSchema, example: invite },
      refusals: {
        422: "The email has a pending invite or an account in the organization, or a role is above the client's permission level.",
      },
    },
    "GET /invites/:id": {
      operationId: "getInvite",
      summary: "Get an invite",
      description: "Any invite of the organization, including used and expired ones.",
      status: 200,
      response: { schema: inviteSchema, example: invite },
    },
    "DELETE /invites/:id": {
      operationId: "deleteInvite",
      summary: "Delete an invite",
      description: "The invite can no longer be accepted.",
      status: 204,
      refusals: { 422: "The invite was already accepted." },
    },
  },
  platform: {
    "GET /invites/:id": {
      operationId: "getInviteWithAcceptUrl",
      summary: "Get an invite with the link to accept it",
      description: "For the part of the platform that mails invites.",
      status: 200,
      response: {
        schema: inviteWithAcceptUrlSchema,
        example: {
          ...invite,
          accept_url: `https://app.example.com/invites/accept?token=${token}`,
        },
      },
    },
    "POST /invites/accept": {
      operationId: "acceptInvite",
      summary: "Accept an invite",
      description:
        "Makes the invitee a user of the organization. An existing user keeps the account and gains the roles. The token is the one in the `accept_url`. It fits only this invite, even after a restore of the database.",
      status: 200,
      request: { fields: {}, example: { token } },
      response: {
        schema: createdUserSchema,
        example: {
          id: 13,
          user_id: 36,
          email: "ines@example.com",
          display_name: "Ines Invited",
          roles: ["provider"],
          organization_id: 1,
          waiting_room_slug: "riverside-clinic--ines-invited",
        },
      },
      refusals: {
        404: "The token is not valid, or its invite does not exist (any more).",
        422: "The invite was already accepted, or has expired.",
      },
    },
  },
};
