import type { Caller } from "../../context.ts";
import type { Role } from "../../database/enums.ts";
import type { BoundQuery } from "../../database/queries.ts";
import type { ApiError } from "../../http/errors.ts";
import { rolesOfCaller } from "../api_clients/api_clients.sql.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { organizationById } from "../organizations/organizations.sql.ts";
import { requireAdministrator } from "./roles.policy.ts";

/** Who asks for what the platform can do, and the administrators of the organization too. */
export interface Author<Known> {
  organization_id: number;
  /** What D1 knows of them when it is decided. */
  read: BoundQuery<Known>;
  /** @throws ApiError if they may not ask for it */
  require(known: Known | undefined): void;
}

/** The platform may do everything in an organization that there is. */
export const asPlatform = (organization_id: number): Author<{ id: number }> => ({
  organization_id,
  read: organizationById({ id: organization_id }),
  require(organization) {
    if (!organization) throw organizationNotFound();
  },
});

/**
 * An API client of an organization_admin, in its own organization.
 *
 * @param notFound makes the error for other callers, which says what does not exist
 */
export const asAdministrator = (caller: Caller, notFound: () => ApiError): Author<{ roles: Role[] }> => ({
  organization_id: caller.organization_id,
  read: rolesOfCaller(caller),
  require: (member) => requireAdministrator(caller, member, notFound),
});
