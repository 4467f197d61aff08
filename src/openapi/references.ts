import * as z from "zod";
import { pageQuery } from "../http/pagination.ts";
import { instant, pathId } from "../http/wire.ts";
import { MAX_PER_PAGE } from "../limits.ts";
import { organizationUsersReference } from "../organization_users/organization_users.openapi.ts";
import { waitingRoomsReference } from "../waiting_rooms/waiting_rooms.openapi.ts";
import type { Reference } from "./operation.ts";

/** The resources in the order of the contract. */
export const references: Reference[] = [organizationUsersReference, waitingRoomsReference];

/** Parameters mean the same wherever they stand. */
export const parameterDescriptions: Record<string, string> = {
  page: "The page to show, from 1. A page past the end is an empty list.",
  per_page: `How many to show on a page; more than ${MAX_PER_PAGE} are served as ${MAX_PER_PAGE}.`,
  slug: "The room's current slug.",
};

// Text in a URL, but numbers and times to a reader: what the transformations after it cannot say.
z.globalRegistry.add(pageQuery.shape.page, { override: { type: "integer", minimum: 1, pattern: undefined } });
z.globalRegistry.add(pageQuery.shape.per_page, {
  override: { type: "integer", minimum: 1, pattern: undefined },
});
z.globalRegistry.add(pathId, { override: { type: "integer", minimum: 1, pattern: undefined } });
z.globalRegistry.add(instant, { override: { type: "string", format: "date-time" } });
