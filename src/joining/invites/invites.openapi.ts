import * as z from "zod";
import { POSITIONS } from "../../http/positions.ts";
import { count } from "../../http/wire.ts";
import * as lifetimes from "../../lifetimes.ts";
import * as limits from "../../limits.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidClient } from "../../organization/api_clients/api_clients.refusals.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { notAssignable } from "../../organization/roles/roles.openapi.ts";
import { tooManyMails, tooManyMailsToAddress } from "../../organization/usage/usage.refusals.ts";
import { grouped } from "../../units.ts";
import { notFormerMember } from "../organization_users/organization_users.refusals.ts";
import { createdUserSchema } from "../organization_users/organization_users.responses.ts";
import * as refusals from "./invites.refusals.ts";
import { inviteSchema, inviteWithAcceptUrlSchema, ROLE_NAMES } from "./invites.responses.ts";
import { createInviteBody } from "./invites.schemas.ts";

const active = exampleOf(inviteSchema);

/** Just created; the mail has not been sent yet. */
const queued: typeof active = {
  ...active,
  ...story.IVY,
  id: story.NEXT_INVITE_ID,
  mail_status: "queued",
  mailed_at: null,
};

const returning = {
  ...active,
  email: "fred.new@example.com",
  display_name: "Fred Former",
  returning_user_id: story.FRED.id,
};

export const invitesReference: Reference = {
  tag: "Invites",
  parameters: { id: { description: "The id of the invite.", example: story.INVITE_ID } },
  description: `Invitations to join the organization. The invitee is mailed a link: by the service if its operator has set up mail, otherwise by the video platform. The invite is pending until the invitee opens the link and accepts. It is active until it expires, ${lifetimes.DEFAULT_INVITE_VALIDITY_DAYS} days after its creation unless the operator has set another number of days (1 to ${lifetimes.MAX_INVITE_VALIDITY_DAYS}). An email can have only one pending invite, expired or not. You can still get used and expired invites by their ids. An organization can have up to ${grouped(limits.MAX_UNUSED_INVITES)} unused invites. A pending invite is deleted when the user who sent it leaves the organization or may no longer give its roles. If the service sends the mails, an organization can send or resend ${grouped(limits.MAX_ORGANIZATION_MAILS)} invites in a UTC day, and ${limits.MAX_ADDRESS_MAILS} to one address, whatever its tag (as in name+tag@). Deleted invites count too.`,
  external: {
    "GET /invites": {
      operationId: "listInvites",
      summary: "List the active invites",
      description:
        "Lists the invites that can still be accepted, ordered by id. With `status=expired`, lists the invites that expired unused.",
      parameters: {
        status: {
          description:
            "`active` for invites that can still be accepted, `expired` for invites that expired unused.",
          example: "expired",
        },
        email: {
          description:
            "Only the invite of this email, in upper or lower case. An email has at most one unused invite.",
          example: active.email,
        },
      },
      response: pageResponse("organization_invites", inviteSchema),
    },
    "POST /invites": {
      operationId: "createInvite",
      summary: "Create an invite",
      description:
        "The email of a former member is free: whoever accepts becomes a new organization user, without the former one's calls and room. To let a former member return as the same organization user, a client that acts as an organization_admin adds `returning_user_id`; the email can be another one than before. Of several invites for the same former member, only the first one that is accepted counts. If the email already has an unused invite, expired or not, send that invite again with `POST /invites/{id}/resend`.",
      request: {
        fields: { "organization_invite.role_names": ROLE_NAMES },
        examples: {
          "A new member": exampleBody(createInviteBody(), queued),
          "A former member who returns": exampleBody(createInviteBody(), returning),
        },
      },
      response: { schema: inviteSchema, example: queued },
      errors: [
        refusals.inviteeHasPendingInvite({ id: active.id, expired_at: null }),
        refusals.inviteeHasPendingInvite({ id: 80, expired_at: "2026-01-12T08:00:00.000Z" }),
        refusals.inviteeHasAccount(),
        notFormerMember("organization_invite"),
        refusals.tooManyInvites(),
        tooManyMails(),
        tooManyMailsToAddress(),
        invalidClient(),
        ...notAssignable("organization_invite.role_names"),
      ],
    },
    "GET /invites/:id": {
      operationId: "getInvite",
      summary: "Get an invite",
      description: "Any invite of the organization, including used and expired ones.",
      response: { schema: inviteSchema },
      errors: [refusals.inviteNotFound()],
    },
    "POST /invites/:id/resend": {
      operationId: "resendInvite",
      summary: "Send an invite again",
      description:
        "Gives an unused invite a new link and a new expiry, even if it has expired, and mails the new link. The previous link stops working. If the service does not send mail, the platform can get the new link.",
      status: 202,
      response: {
        schema: inviteSchema,
        example: {
          ...active,
          mail_status: "queued",
          expires_at: "2026-02-08T14:00:00.000Z",
          updated_at: "2026-02-01T14:00:00.000Z",
        },
      },
      refusals: { 422: "The invite was used, or has a role that your client cannot assign." },
      errors: [
        refusals.inviteNotFound(),
        refusals.usedInviteIsNotResent(),
        ...notAssignable("roles"),
        invalidClient(),
        refusals.inviteSentJustNow(lifetimes.INVITE_RESEND_PAUSE),
        tooManyMails(),
        tooManyMailsToAddress(),
      ],
    },
    "DELETE /invites/:id": {
      operationId: "deleteInvite",
      summary: "Delete an invite",
      description:
        "Deletes an unused invite, expired or not. Its link stops working. You can only delete an invite whose roles you may assign. A used invite cannot be deleted: to remove the user, end the membership with `DELETE /organization_users/{id}`.",
      errors: [
        refusals.inviteNotFound(),
        refusals.usedInviteStays(),
        ...notAssignable("roles"),
        invalidClient(),
      ],
    },
  },
  platform: {
    "GET /invites": {
      operationId: "listInvitesWithAcceptUrls",
      summary: "List the active invites of all organizations",
      description:
        "Lists the invites that can still be accepted, with their links, for a platform that mails invites itself. Invites of suspended organizations are left out. Ordered by id: for the next page, pass `next_after` as `after`. With several databases, each page is ordered, and the invites of a database that is down are left out; they come on a later page. An invite that was sent again keeps its id but has a new link.",
      parameters: {
        status: { description: "Only `active`.", example: "active" },
        after: {
          description:
            "The position to continue from: 0, or the `next_after` of the previous response. With one database, this is an id, and only invites with a higher id are listed.",
          example: "0",
        },
      },
      response: {
        schema: z.object({
          organization_invites: z
            .array(inviteWithAcceptUrlSchema)
            .max(limits.MAX_PER_PAGE)
            .describe("The next active invites, ordered by id."),
          next_after: z.union([count(), z.string().max(limits.MAX_INTEGER_LENGTH).regex(POSITIONS)]).meta({
            description:
              "The `after` for the next request. With one database, the id of the last invite on this page; with several, a string that encodes the position in each. If the page is empty, the `after` of this request.",
            example: story.INVITE_ID,
          }),
        }),
      },
    },
    "GET /organizations/:organization_id/invites/:id": {
      operationId: "getInviteWithAcceptUrl",
      summary: "Get an invite with the link to accept it",
      description:
        "For a platform that mails invites itself. Every request returns the same link, until the invite is sent again or the operator changes `INVITE_TOKEN_SECRET`. Used and expired invites have a link too: check `used_at` and `expires_at` before you mail it.",
      response: { schema: inviteWithAcceptUrlSchema },
      errors: [refusals.inviteNotFound()],
    },
    "POST /invites/accept": {
      operationId: "acceptInvite",
      summary: "Accept an invite",
      description:
        "Makes the invitee a user of the organization, with a personal waiting room if the roles include `provider`. A person who has become a user in the meantime keeps their account and name and gains the roles. An invite with `returning_user_id` makes the person that organization user again, with the name, email and roles of the invite. The user can then sign in.",
      status: 200,
      request: {
        fields: { token: "The value of `token` in the query of the `accept_url`." },
        example: { token: story.INVITE_TOKEN },
      },
      response: {
        schema: createdUserSchema,
        example: {
          ...story.INES,
          roles: ["provider"],
          organization_id: story.CLINIC.id,
          waiting_room_slug: story.INESS_ROOM.slug,
        },
      },
      refusals: { 404: "The token is not valid, or its invite no longer exists." },
      errors: [
        refusals.inviteNotFound(),
        organizationSuspended(),
        refusals.inviteAlreadyUsed(),
        refusals.inviteExpired(),
        refusals.inviteeHasReturned(),
      ],
    },
  },
};
