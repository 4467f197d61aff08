import { describe, expect, it } from "vitest";
import { aCall } from "../worker/support/calls.ts";
import { anOrganization, given, type Organization } from "../worker/support/organization.ts";

/** Each makes three entries of a list, and returns the list's path. */
const LISTS: Record<string, (clinic: Organization) => Promise<string>> = {
  waiting_rooms: async (clinic) => {
    for (const name of ["Cardiology", "Lungs", "Eyes"]) await clinic.addRoom({ name });
    return "/waiting_rooms";
  },
  organization_invites: async (clinic) => {
    for (let n = 0; n < 3; n++) await clinic.addInvite();
    return "/invites";
  },
  audit_logs: async (clinic) => {
    const call = await aCall(clinic);
    const path = `${call.path}/egresses/${(await call.addEgress()).id}`;
    for (let n = 0; n < 2; n++) await given(clinic.client.get(path));
    return `${path}/audit_logs`;
  },
};

describe("Pagination envelope", () => {
  it.each(Object.entries(LISTS))(
    "Paginated lists carry a pagination object: current_page, per_page, total_pages, total_count (all integers): %s",
    async (name, makeList) => {
      const clinic = await anOrganization();
      const path = await makeList(clinic);
      const { [name]: items, ...envelope } = await given(clinic.client.get(`${path}?page=2&per_page=2`));
      expect(items).toHaveLength(1);
      expect(envelope).toEqual({
        pagination: { current_page: 2, per_page: 2, total_pages: 2, total_count: 3 },
      });
    },
  );
});
