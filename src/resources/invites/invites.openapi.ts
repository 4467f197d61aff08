import * as z from "zod";
import { POSITIONS } from "../../http/positions.ts";
import { count } from "../../http/wire.ts";
import {
  DEFAULT_INVITE_VALIDITY_DAYS,
  INVITE_RESEND_PAUSE,
  MAX_INVITE_VALIDITY_DAYS,
} from "../../lifetimes.ts";
import {
  MAX_ADDRESS_MAILS,
  MAX_INTEGER_LENGTH,
  MAX_ORGANIZATION_MAILS,
  MAX_PER_PAGE,
  MAX_UNUSED_INVITES,
} from "../../limits.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidClient } from "../api_clients/api_clients.refusals.ts";
import { createdUserSchema } from "../organization_users/organization_users.responses.ts";
import { rolesAboveLevel } from "../roles/roles.refusals.ts";
import { tooManyMails, tooManyMailsToAddress } from "../usage/usage.refusals.ts";
import {
  inviteAlreadyUsed,
  inviteExpired,
  inviteeHasAccount,
  inviteeHasPendingInvite,
  inviteNotFound,
  inviteSentJustNow,
  tooManyInvites,
  usedInviteIsNotResent,
  usedInviteStays,
} from "./invites.refusals.ts";
import { inviteSchema, inviteWithAcceptUrlSchema, ROLE_NAMES } from "./invites.responses.ts";
import { createInviteBody } from "./invites.schemas.ts";

const active = exampleOf(inviteSchema);

/** As it is made: the mail follows. */
const queued: typeof active = { ...active, mail_status: "queued", mailed_at: null };

/** Two days later. */
const RESENT = { expires_at: "2026-02-08T14:00:00.000Z", updated_at: "2026-02-01T14:00:00.000Z" };

const resent: typeof active = { ...active, ...RESENT, mail_status: "queued" };

const used: typeof active = { ...active, used_at: story.ACCEPTED_AT, updated_at: story.ACCEPTED_AT };

const expired: typeof active = {
  ...active,
  id: 80,
  mail_status: "failed",
  mailed_at: null,
  email: "otto@example.com",
  display_name: "Otto Overdue",
  expires_at: "2026-01-12T08:00:00.000Z",
  created_at: story.SET_UP_AT,
  updated_at: story.SET_UP_AT,
};

const parameters = { id: { description: "The id of the invite.", example: story.INVITE_ID } };

export const invitesReference: Reference = {
  tag: "Invites",
  description: `Invitations to join the organization. The invitee is mailed a link: by the service, if its operator has set that up, else by the video platform. Until the invitee opens it and accepts, the invite is pending. It is active until it expires, ${DEFAULT_INVITE_VALIDITY_DAYS} days after its creation, unless the operator chose another number of days (1 to ${MAX_INVITE_VALIDITY_DAYS}). An email has at most one pending invite, expired or not. Used and expired invites can be read as before, by their ids. An organization has at most ${MAX_UNUSED_INVITES} unused invites. A pending invite is removed when the user who sent it leaves the organization, or may no longer give its roles. Where the service sends mails, an organization can invite, or send invites again, ${MAX_ORGANIZATION_MAILS} times in a UTC day, and ${MAX_ADDRESS_MAILS} times to one address, whatever its tag (as in name+tag@). Deleted invites count too.`,
  external: {
    "GET /invites": {
      operationId: "listInvites",
      summary: "List the pending invites",
      description:
        "Lists the invites that can still be accepted, or those that have expired without being used. Ordered by id.",
      parameters: {
        status: {
          description:
            "`active` for the invites that can still be accepted, `expired` for those that were not used in time.",
          example: "expired",
        },
      },
      response: pageResponse("organization_invites", inviteSchema, {
        "One active invite": [active],
        "After the invitee has accepted": [],
        "One expired invite": [expired],
      }),
    },
    "POST /invites": {
      operationId: "createInvite",
      summary: "Create an invite",
      description:
        "Somebody whose membership has ended can be invited again. If the email has an invite that was not used, expired or not, send that one again with `POST /invites/{id}/resend`.",
      request: {
        fields: { "organization_invite.role_names": ROLE_NAMES },
        example: exampleBody(createInviteBody(), active),
      },
      response: { schema: inviteSchema, example: queued },
      errors: [
        inviteeHasPendingInvite({ id: queued.id, expired_at: null }),
        inviteeHasPendingInvite({ id: expired.id, expired_at: expired.expires_at }),
        inviteeHasAccount(),
        tooManyInvites(),
        tooManyMails(),
        tooManyMailsToAddress(),
        invalidClient(),
        rolesAboveLevel(
          "organization_invite.role_names",
          ["organization_admin"],
          ["provider_assistant", "provider"],
        ),
      ],
    },
    "GET /invites/:id": {
      operationId: "getInvite",
      summary: "Get an invite",
      description: "Any invite of the organization, including used and expired ones.",
      parameters,
      response: {
        schema: inviteSchema,
        examples: { "A pending invite": active, "A used invite": used, "An expired invite": expired },
      },
      errors: [inviteNotFound()],
    },
    "POST /invites/:id/resend": {
      operationId: "resendInvite",
      summary: "Send an invite again",
      description:
        "Gives an invite that was not used a new link and a new expiry, also if it has expired, and mails the new link. The link before it stops working. If the service sends no mail, the platform can get the new link.",
      status: 202,
      parameters,
      response: { schema: inviteSchema, example: resent },
      refusals: { 422: "The invite was used, or has a role above your permission level." },
      errors: [
        inviteNotFound(),
        usedInviteIsNotResent(),
        rolesAboveLevel("roles", ["organization_admin"], ["provider_assistant", "provider"]),
        invalidClient(),
        inviteSentJustNow(INVITE_RESEND_PAUSE),
        tooManyMails(),
        tooManyMailsToAddress(),
      ],
    },
    "DELETE /invites/:id": {
      operationId: "deleteInvite",
      summary: "Delete an invite",
      description:
        "Deletes an invite that was not used, expired or not. Its link no longer works. A used invite stays: to remove the user, end the membership with `DELETE /organization_users/{id}`.",
      parameters,
      errors: [inviteNotFound(), usedInviteStays(), invalidClient()],
    },
  },
  platform: {
    "GET /invites": {
      operationId: "listInvitesWithAcceptUrls",
      summary: "List the active invites of all organizations",
      description:
        "Lists the invites that can still be accepted, with their links, for a platform that mails invites itself. Ordered by id: ask again with `next_after` as `after`. With several databases each page is ordered, and while one of them is down, its invites are left out; they come on a later page. An invite that was sent again keeps its id, and has another link.",
      parameters: {
        status: { description: "Only `active`.", example: "active" },
        after: {
          description:
            "Where to go on: 0, or the `next_after` of the response before. With one database, it is an id, and the list is of invites with a higher one.",
          example: "0",
        },
      },
      response: {
        schema: z.object({
          organization_invites: z
            .array(inviteWithAcceptUrlSchema)
            .max(MAX_PER_PAGE)
            .describe("The next active invites, by id."),
          next_after: z
            .union([count(), z.string().max(MAX_INTEGER_LENGTH).regex(POSITIONS)])
            .describe(
              "The `after` of the next request. With one database, it is the id of the last invite here; with several, a text that says how far each was read. If there is no invite here, it is the `after` of this request.",
            ),
        }),
        examples: {
          "One active invite": {
            organization_invites: [exampleOf(inviteWithAcceptUrlSchema)],
            next_after: story.INVITE_ID,
          },
        },
      },
    },
    "GET /organizations/:organization_id/invites/:id": {
      operationId: "getInviteWithAcceptUrl",
      summary: "Get an invite with the link to accept it",
      description:
        "For a platform that mails invites itself. Every request returns the same link, until the invite is sent again or the operator changes `INVITE_TOKEN_SECRET`. Used and expired invites have one too: look at `used_at` and `expires_at` before you mail it.",
      parameters,
      response: {
        schema: inviteWithAcceptUrlSchema,
        examples: { "A pending invite": exampleOf(inviteWithAcceptUrlSchema) },
      },
      errors: [inviteNotFound()],
    },
    "POST /invites/accept": {
      operationId: "acceptInvite",
      summary: "Accept an invite",
      description:
        "Makes the invitee a user of the organization, with a personal waiting room if the roles include `provider`. Somebody who became a user in the meantime keeps the account and the name, and gains the roles. Somebody whose membership has ended becomes the same organization user again. From now on, the user can sign in.",
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
      refusals: { 404: "The token is not valid, or its invite does not exist any more." },
      errors: [inviteNotFound(), inviteAlreadyUsed(), inviteExpired()],
    },
  },
};
