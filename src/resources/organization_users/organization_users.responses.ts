import * as z from "zod";
import { MAX_ASSISTS } from "../../limits.ts";
import { email, id, line, roomSlug } from "../../openapi/shapes.ts";
import { roleList } from "../roles/roles.responses.ts";

export const organizationUserSchema = z
  .object({
    id: id().describe("The id of the organization user: the membership of this person in this organization."),
    user_id: id().describe(
      "The id of the person. It is the same in every organization that the person belongs to.",
    ),
    email: email().describe("The email address of the person, in lower case."),
    display_name: line().describe("The name of the person in this organization."),
    roles: roleList().describe(
      "The roles of the person in this organization, lowest first; an empty list if the membership has ended.",
    ),
  })
  .meta({ id: "OrganizationUser", description: "A person who belongs to the organization." });

export const createdUserSchema = organizationUserSchema
  .extend({
    organization_id: id().describe("The id of the organization."),
    waiting_room_slug: roomSlug()
      .nullable()
      .describe(
        "The slug of the person's personal waiting room; null for a person without the role `provider`.",
      ),
  })
  .meta({
    id: "CreatedUser",
    description: "A person who belongs to an organization, with the slug of the personal waiting room.",
  });

export const userSchema = createdUserSchema
  .extend({
    assists: z
      .array(id())
      .max(MAX_ASSISTS)
      .describe("The ids of the organization users whom the person assists, in ascending order."),
  })
  .meta({
    id: "User",
    description:
      "A person who belongs to an organization, with the slug of the personal waiting room and the providers whom the person assists.",
  });
