import { platformRoutes } from "../../http/platform_door.ts";
import { jsonBody } from "../../http/validation.ts";
import { createOrganizationBody, toOrganization } from "./organizations.schemas.ts";
import { createOrganization } from "./organizations.service.ts";

export const organizationsPlatform = platformRoutes().post(
  "/organizations",
  jsonBody(createOrganizationBody),
  async (c) => {
    const organization = await createOrganization(c.var.context, c.req.valid("json").organization);
    return c.json(toOrganization(organization), 201);
  },
);
