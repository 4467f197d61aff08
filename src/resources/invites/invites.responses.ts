import * as z from "zod";
import { email, id, line, timestamp } from "../../openapi/shapes.ts";
import { roleList } from "../roles/roles.responses.ts";

export const inviteSchema = z
  .object({
    id: id().describe("The id of the invite."),
    email: email().describe("The invited email address, in lower case."),
    display_name: line().describe("The name that the invitee gets in the organization."),
    roles: roleList().min(1).describe("The roles that the invitee gets, lowest first."),
    organization_id: id().describe("The organization that the invitee joins."),
    organization_name: line().describe("The name of this organization."),
    expires_at: timestamp().describe("The invite can be accepted until this time."),
    used_at: timestamp().nullable().describe("When the invite was accepted; null until then."),
    created_at: timestamp().describe("When the invite was created."),
    updated_at: timestamp().describe("When the invite was accepted, or else created."),
  })
  .meta({ id: "Invite", description: "An invitation to join the organization." });

export const inviteWithAcceptUrlSchema = inviteSchema
  .extend({
    accept_url: z
      .url()
      .max(2000)
      .describe(
        "The link at which the invitee accepts the invite. Anyone who has it can accept: mail it to the invitee, and do not log it.",
      ),
  })
  .meta({ id: "InviteWithAcceptUrl", description: "An invitation, with the link to mail to the invitee." });
