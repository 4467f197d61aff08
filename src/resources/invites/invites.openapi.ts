import type * as z from "zod";
import { pageOf, paginationExample, type Reference } from "../../openapi/operation.ts";
import { createdUserSchema } from "../organization_users/organization_users.schemas.ts";
import { inviteSchema, inviteWithAcceptUrlSchema } from "./invites.schemas.ts";

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

const fields = {
  id: "Identifies the invite.",
  email: "The address that is invited.",
  display_name: "What the invitee is to be called.",
  roles: "The roles that the invitee is given, lowest first.",
  organization_id: "The organization that invites.",
  organization_name: "The organization's name.",
  expires_at: "Until when the invite can be accepted.",
  used_at: "When the invite was accepted; null before.",
  created_at: "When the invite was made.",
  updated_at: "When the invite last changed.",
};

export const invitesReference: Reference = {
  tag: "Invites",
  description: "Invitations to join the organization.",
  schemas: {
    Invite: { schema: inviteSchema, description: "An invitation to join the organization.", fields },
    InviteWithAcceptUrl: {
      schema: inviteWithAcceptUrlSchema,
      description: "An invitation, with what its invitee is to be mailed.",
      fields: { ...fields, accept_url: "Where the invitee accepts." },
    },
  },
  external: {
    "GET /invites": {
      operationId: "listInvites",
      summary: "List the active invites",
      description: "Those that can still be accepted, by id.",
      status: 200,
      response: {
        schema: pageOf("organization_invites", inviteSchema),
        example: { organization_invites: [invite], pagination: paginationExample },
      },
    },
    "POST /invites": {
      operationId: "createInvite",
      summary: "Create an invite",
      description: "Emails are compared in lower case. An expired invite of the same email makes place.",
      status: 201,
      requestExample: {
        organization_invite: {
          email: "ines@example.com",
          display_name: "Ines Invited",
          role_names: ["provider"],
        },
      },
      response: { schema: inviteSchema, example: invite },
      refusals: {
        422: "The email has a pending invite or an account in the organization, or a role is above the caller's permission level.",
      },
    },
    "GET /invites/:id": {
      operationId: "getInvite",
      summary: "Get an invite",
      description: "Used and expired ones too.",
      status: 200,
      response: { schema: inviteSchema, example: invite },
    },
    "DELETE /invites/:id": {
      operationId: "deleteInvite",
      summary: "Delete an invite",
      description: "It can be accepted no longer.",
      status: 204,
      refusals: { 422: "The invite was used." },
    },
  },
  platform: {
    "GET /invites/:id": {
      operationId: "getInviteWithAcceptUrl",
      summary: "Get an invite, with the address where it is accepted",
      description: "For whoever mails it.",
      status: 200,
      response: {
        schema: inviteWithAcceptUrlSchema,
        example: {
          ...invite,
          accept_url:
            "https://app.example.com/invites/accept?token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI4MSJ9.c2lnbmF0dXJl",
        },
      },
    },
    "POST /invites/accept": {
      operationId: "acceptInvite",
      summary: "Accept an invite",
      description:
        "Makes the invitee a user of the organization; one who is a user already keeps the account and gains the roles. The token is that of the `accept_url`.",
      status: 200,
      requestExample: { token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI4MSJ9.c2lnbmF0dXJl" },
      response: {
        schema: createdUserSchema,
        example: {
          id: 13,
          user_id: 36,
          email: "ines@example.com",
          display_name: "Ines Invited",
          roles: ["provider"],
          organization_id: 1,
          waiting_room_slug: "riverside-clinic-ines-invited",
        },
      },
      refusals: {
        404: "The token is forged, or the invite was removed.",
        422: "The invite was used, or has expired.",
      },
    },
  },
};
