import * as z from "zod";
import { MAIL_STATUSES } from "../../database/enums.ts";
import { email, emptyOr, id, name, timestamp } from "../../http/wire.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { roleList } from "../../organization/roles/roles.responses.ts";

export const ROLE_NAMES =
  "The invitee's roles, in any order. Duplicates count once. The client can assign the roles that `GET /roles` lists.";

export const inviteSchema = named("Invite", "An invitation to join the organization.", {
  id: id().meta({ description: "The id of the invite.", example: story.INVITE_ID }),
  email: email().meta({
    description:
      "The email address of the invitee, as the identity provider knows it. It is stored and compared in lower case, without leading and trailing spaces.",
    example: story.INES.email,
  }),
  display_name: name().meta({
    description: "The invitee's name in the organization, without leading and trailing spaces.",
    example: story.INES.display_name,
  }),
  roles: field(roleList().min(1), "The invitee's roles, lowest first.", ["provider"]),
  organization_id: field(id(), "The organization that the invitee joins.", story.CLINIC.id),
  organization_name: field(name(), "The name of this organization.", story.CLINIC.name),
  expires_at: field(timestamp(), "The invite can be accepted until this time.", story.INVITE_EXPIRES_AT),
  used_at: field(timestamp().nullable(), "When the invite was accepted; null until then.", null),
  created_at: timestamp().meta({ description: "When the invite was created.", example: story.INVITED_AT }),
  updated_at: timestamp().meta({
    description:
      "When the invite was accepted, last sent again, or created. A mail does not change this time.",
    example: story.INVITED_AT,
  }),
  mail_status: z.enum(MAIL_STATUSES).meta({
    description:
      "The state of the last mail with the link. `off`: the service does not send mail, but the platform may. `queued`: the mail will be sent, or retried after a temporary error. `sent`: the mail provider has accepted it. `failed`: it was not sent and will not be; send the invite again, or delete it.",
    example: "sent",
  }),
  mailed_at: timestamp().nullable().meta({
    description: "When a mail with the link was last sent; null if none has been sent.",
    example: story.INVITE_MAILED_AT,
  }),
  created_by_user_id: id().meta({
    description:
      "The user who sent the invite: the `user_id` of the organization user that the API client acts as. It stays the same when that membership ends.",
    example: story.OLGA.user_id,
  }),
  returning_user_id: id()
    .nullable()
    .describe(
      "The former organization user that the invitee becomes again; null if the invitee becomes a new one.",
    ),
});

export const inviteWithAcceptUrlSchema = inviteSchema
  .extend({
    organization_name: emptyOr(name()).meta({
      description:
        "The name of this organization as the platform last set it, as in the service's own mails: without addresses, and at most 80 characters. It is empty if nothing is left.",
      example: story.CLINIC.name,
    }),
    accept_url: z
      .url()
      .max(2000)
      .meta({
        description:
          "The link with which the invitee accepts the invite. Anyone who has it can accept: mail it to the invitee, and do not log it.",
        example: `${story.APP_URL}/invites/accept?token=${story.INVITE_TOKEN}`,
      }),
  })
  .meta({ id: "InviteWithAcceptUrl", description: "An invitation, with the link to mail to the invitee." });
