import { email, id, name, roomSlug } from "../../http/wire.ts";
import { named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { roleList } from "../../organization/roles/roles.responses.ts";
import { assists } from "./organization_users.schemas.ts";

export const organizationUserSchema = named("OrganizationUser", "A person who belongs to the organization.", {
  id: id().meta({
    description: "The id of the organization user: the account of this person in this organization.",
    example: story.PAULA.id,
  }),
  user_id: id().meta({ description: "The same number as `id`.", example: story.PAULA.user_id }),
  email: email().nullable().meta({
    description:
      "The email address of the person, as the identity provider knows it, in lower case and without leading and trailing spaces. An email identifies one member of an organization: after a membership has ended, the email can be another member's, or null.",
    example: story.PAULA.email,
  }),
  display_name: name().meta({
    description: "The name of the person in this organization, without leading and trailing spaces.",
    example: story.PAULA.display_name,
  }),
  roles: roleList().meta({
    description:
      "The roles of the person in this organization, lowest first; an empty list if the membership has ended.",
    example: ["provider"],
  }),
  assists: assists().meta({
    description: "The ids of the organization users whom the person assists, in ascending order.",
    example: [],
  }),
  waiting_room_slug: roomSlug().nullable().meta({
    description:
      "The slug of the person's personal waiting room; null for a person without the role `provider`.",
    example: story.PAULAS_ROOM.slug,
  }),
});

export const userSchema = organizationUserSchema
  .extend({
    organization_id: id().meta({ description: "The id of the organization.", example: story.CLINIC.id }),
  })
  .meta({
    id: "User",
    description:
      "A person who belongs to an organization, with the slug of their personal waiting room and the providers whom they assist.",
  });

export const createdUserSchema = userSchema.omit({ assists: true }).meta({
  id: "CreatedUser",
  description: "A person who belongs to an organization, with the slug of their personal waiting room.",
});
