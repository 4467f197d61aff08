import * as z from "zod";
import { email, id, name } from "../../http/wire.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { organizationSlug } from "../../organization/organizations/organizations.schemas.ts";
import { roleList } from "../../organization/roles/roles.responses.ts";

export const redeemedCodeSchema = named("RedeemedCode", "The person who signed in, and their organization.", {
  organization: z
    .object({
      id: id().meta({ description: "The id of the organization.", example: story.CLINIC.id }),
      name: name().meta({ description: "The name of the organization.", example: story.CLINIC.name }),
      slug: organizationSlug().meta({
        description: "The short name that the slugs of the organization's waiting rooms begin with.",
        example: story.CLINIC.slug,
      }),
    })
    .describe("The organization that the user signed in to."),
  user: z
    .object({
      id: id().meta({ description: "The `user_id` of the person.", example: story.PAULA.user_id }),
      email: field(email(), "The email address of the person, in lower case.", story.PAULA.email),
      display_name: field(name(), "The name of the person in this organization.", story.PAULA.display_name),
    })
    .describe("The person who signed in."),
  organization_user: z
    .object({
      id: id().meta({
        description: "The id of the organization user: the `organization_user_id` in reports.",
        example: story.PAULA.id,
      }),
      roles: roleList()
        .min(1)
        .meta({
          description: "The roles of the person in this organization, lowest first.",
          example: ["provider"],
        }),
    })
    .describe("The person's membership of this organization."),
});
