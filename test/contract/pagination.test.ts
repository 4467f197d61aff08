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

it("Lists that the contract shows without an envelope take page and per_page too, and are one page by default", async () => {
  const clinic = await anOrganization();
  const [{ slug }, { user_id }] = [await clinic.addRoom(), await clinic.addProvider()];
  for (const year of [2125, 2126, 2127])
    await clinic.addSub(slug, { user_id, datetime_start: `${year}-01-31T09:30:00Z` });
  const call = await aCall(clinic);
  for (let n = 0; n < 3; n++) await call.addEgress();
  for (const path of [`/waiting_rooms/${slug}/waiting_room_subs`, `${call.path}/egresses`, "/roles"]) {
    const list = async (query: string) =>
      Object.values(await given(clinic.client.get(`${path}?${query}`)))[0];
    const all = (await list("")) as object[];
    expect(all).toHaveLength(3);
    expect(await list("page=1")).toEqual(all);
    expect(await list("page=2&per_page=2")).toEqual(all.slice(2));
    expect(await list("page=2")).toEqual([]);
  }
});
