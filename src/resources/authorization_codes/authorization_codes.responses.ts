import * as z from "zod";
import { email, id, line } from "../../openapi/shapes.ts";
import { organizationSlug } from "../organizations/organizations.responses.ts";
import { roleList } from "../roles/roles.responses.ts";

export const redeemedCodeSchema = z
  .object({
    organization: z
      .object({
        id: id().describe("The id of the organization."),
        name: line().describe("The name of the organization."),
        slug: organizationSlug().describe(
          "The short name with which the slugs of the organization's waiting rooms begin.",
        ),
      })
      .describe("The organization that the user signed in to."),
    user: z
      .object({
        id: id().describe("The `user_id` of the person."),
        email: email().describe("The email address of the person, in lower case."),
        display_name: line().describe("The name of the person in this organization."),
      })
      .describe("The person who signed in."),
    organization_user: z
      .object({
        id: id().describe("The id of the organization user: the `organization_user_id` of reports."),
        roles: roleList().min(1).describe("The roles of the person in this organization, lowest first."),
      })
      .describe("The person's membership of this organization."),
  })
  .meta({ id: "RedeemedCode", description: "Who signed in, and to which organization." });
