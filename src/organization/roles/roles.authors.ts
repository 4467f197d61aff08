import type { Caller } from "../../context.ts";
import type { BoundQuery } from "../../database/queries.ts";
import { ALL_RIGHTS, type Rights } from "../api_clients/api_clients.policy.ts";
import { rightsOfCaller } from "../api_clients/api_clients.sql.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { organizationById } from "../organizations/organizations.sql.ts";
import { requireAdministrator } from "./roles.policy.ts";

/** Makes a change that both the platform and the organization's administrators can make. */
export interface Author<Known> {
  organization_id: number;
  read: BoundQuery<Known>;
  /**
   * The author's rights limit the change.
   *
   * @throws ApiError if the author may not make it
   */
  require(known: Known | undefined): Rights;
}

export const asPlatform = (organization_id: number): Author<{ id: number }> => ({
  organization_id,
  read: organizationById({ id: organization_id }),
  require(organization) {
    if (!organization) throw organizationNotFound();
    return ALL_RIGHTS;
  },
});

export const asAdministrator = (caller: Caller): Author<Rights> => ({
  organization_id: caller.organization_id,
  read: rightsOfCaller(caller),
  require: requireAdministrator,
});
