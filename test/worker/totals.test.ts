import { describe, expect, it } from "vitest";
import { aCall } from "./support/calls.ts";
import { expectGone, expectRefusal } from "./support/expectations.ts";
import { accept, keepingInvite } from "./support/invites.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { fromNow, travelTo } from "./support/time.ts";

/** How many rows a list has, in pages of two, where its total says so on each page. */
async function lengthOf({ client }: Pick<Organization, "client">, path: string) {
  const totals = new Set<number>();
  let length = 0;
  for (let page = 1, pages = 1; page <= pages; page++) {
    const separator = path.includes("?") ? "&" : "?";
    const { pagination, ...lists } = await given(client.get(`${path}${separator}per_page=2&page=${page}`));
    length += (Object.values(lists)[0] as object[]).length;
    totals.add(pagination.total_count);
    pages = pagination.total_pages;
  }
  expect([...totals]).toEqual([length]);
  return length;
}

describe("The total of the waiting rooms is how many are listed", () => {
  /** How many rooms there are now, beside those that the organization began with. */
  async function aCount(clinic: Organization) {
    const before = await lengthOf(clinic, "/waiting_rooms");
    return async () => (await lengthOf(clinic, "/waiting_rooms")) - before;
  }

  it("when rooms are made, renamed, refused and retired", async () => {
    const clinic = await anOrganization();
    const added = await aCount(clinic);
    const rooms = [];
    for (let n = 1; n <= 3; n++) {
      rooms.push(await clinic.addRoom());
      expect(await added()).toBe(n);
    }
    expectRefusal(await clinic.client.post("/waiting_rooms", { waiting_room: { name: " " } }), 422);
    expect(await added()).toBe(3);
    const path = `/waiting_rooms/${rooms[1].slug}`;
    const { slug } = await given(clinic.client.put(path, { waiting_room: { name: "Oncology" } }));
    expect(await added()).toBe(3);
    expectGone(await clinic.client.delete(`/waiting_rooms/${slug}`));
    expect(await added()).toBe(2);
    expectRefusal(await clinic.client.delete(`/waiting_rooms/${slug}`), 404);
    expect(await added()).toBe(2);
  });

  it("when a room in use cannot be retired, and when it can", async () => {
    const clinic = await anOrganization();
    const added = await aCount(clinic);
    const room = await clinic.addRoom();
    const key = unique("participant");
    await clinic.addParticipant(room.slug, {}, key);
    expectRefusal(await clinic.client.delete(`/waiting_rooms/${room.slug}`), 422);
    expect(await added()).toBe(1);
    await clinic.addParticipant(room.slug, { left_at: fromNow(1) }, key);
    expectGone(await clinic.client.delete(`/waiting_rooms/${room.slug}`));
    expect(await added()).toBe(0);
  });

  it("when providers come, who have a personal room, and assistants, who have none", async () => {
    const clinic = await anOrganization();
    const added = await aCount(clinic);
    await clinic.addProvider();
    expect(await added()).toBe(1);
    await clinic.addUser("Ann Assistant", ["provider_assistant"]);
    expect(await added()).toBe(1);
    await given(accept(await clinic.addInvite({ role_names: ["provider"] })));
    expect(await added()).toBe(2);
  });

  it("when an assistant becomes a provider, and gets a personal room", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite({ role_names: ["provider"] });
    await keepingInvite(invite, () =>
      clinic.addUser("Ann Assistant", ["provider_assistant"], { email: invite.email }),
    );
    const added = await aCount(clinic);
    await given(accept(invite));
    expect(await added()).toBe(1);
  });
});

describe("The total of the invites is how many are listed", () => {
  const length = (clinic: Organization) => lengthOf(clinic, "/invites");
  const expire = ({ expires_at }: { expires_at: string }, milliseconds = 0) =>
    travelTo(new Date(Date.parse(expires_at) + milliseconds).toISOString());
  const remove = ({ client }: Organization, { id }: { id: number }) => client.delete(`/invites/${id}`);

  it("when invites are made, refused, accepted and removed", async () => {
    const clinic = await anOrganization();
    expect(await length(clinic)).toBe(0);
    const [first, second] = [await clinic.addInvite(), await clinic.addInvite(), await clinic.addInvite()];
    expect(await length(clinic)).toBe(3);
    const again = { organization_invite: anInvite({ email: first.email }) };
    expectRefusal(await clinic.client.post("/invites", again), 422);
    expect(await length(clinic)).toBe(3);
    await given(accept(first));
    expect(await length(clinic)).toBe(2);
    expectRefusal(await remove(clinic, first), 422);
    expect(await length(clinic)).toBe(2);
    expectGone(await remove(clinic, second));
    expect(await length(clinic)).toBe(1);
    expectRefusal(await remove(clinic, second), 404);
    expect(await length(clinic)).toBe(1);
  });

  it("when they expire, and an expired one is removed or replaced", async () => {
    const clinic = await anOrganization();
    const lengths = async () => [await length(clinic), await lengthOf(clinic, "/invites?status=expired")];
    const [replaced, removed] = [
      await clinic.addInvite(),
      await clinic.addInvite(),
      await clinic.addInvite(),
    ];
    expect(await lengths()).toEqual([3, 0]);
    expire(replaced, 60_000);
    expect(await lengths()).toEqual([0, 3]);
    expectGone(await remove(clinic, replaced));
    const next = await clinic.addInvite({ email: replaced.email });
    expect(await lengths()).toEqual([1, 2]);
    expectGone(await remove(clinic, removed));
    expect(await lengths()).toEqual([1, 1]);
    await given(accept(next));
    expect(await lengths()).toEqual([0, 1]);
  });

  it("when some expire sooner than others", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    travelTo(fromNow(1));
    await clinic.addInvite();
    expect(await length(clinic)).toBe(2);
    expire(invite);
    expect(await length(clinic)).toBe(1);
    expect(await lengthOf(clinic, "/invites?status=expired")).toBe(1);
  });
});

describe("The total of an organization user's calls is how many are listed", () => {
  it("when calls are reported, again, and as those of another organization user", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const lengths = async () => [
      await lengthOf(clinic, `/organization_users/${paula.id}/calls`),
      await lengthOf(clinic, `/organization_users/${peter.id}/calls`),
    ];
    expect(await lengths()).toEqual([0, 0]);
    const call = await aCall(clinic, { ended_at: undefined }, paula);
    expect(await lengths()).toEqual([1, 0]);
    for (let n = 2; n <= 3; n++) await aCall(clinic, {}, paula);
    expect(await lengths()).toEqual([3, 0]);
    await given(call.report({ ended_at: "2026-01-31T10:30:00Z" }));
    expect(await lengths()).toEqual([3, 0]);
    await given(call.report({ organization_user_id: peter.id }));
    expect(await lengths()).toEqual([2, 1]);
    await given(call.report({ organization_user_id: peter.id }));
    expect(await lengths()).toEqual([2, 1]);
    await given(call.report({ organization_user_id: paula.id }));
    expect(await lengths()).toEqual([3, 0]);
    const other = await anOrganization("Hillside Clinic");
    expectRefusal(await call.report({ organization_user_id: other.admin.id }), 422);
    expect(await lengths()).toEqual([3, 0]);
  });
});

describe("The total of an egress's audit entries is how many are listed", () => {
  it("of all events and of each, when it is created, changed, read and reported again", async () => {
    const clinic = await anOrganization();
    const { path, addEgress } = await aCall(clinic);
    const egress_id = unique("egress");
    const report = (egress: object) => addEgress({ ended_at: undefined, ...egress }, egress_id);
    const starting = { status: "egress_starting", is_stopped: false, storage_key: undefined };
    const { id } = await report(starting);
    const other = await addEgress();
    const lengths = async (of = id) => {
      const list = `${path}/egresses/${of}/audit_logs`;
      const [all, created, updated, read] = [
        await lengthOf(clinic, list),
        await lengthOf(clinic, `${list}?event=create`),
        await lengthOf(clinic, `${list}?event=update`),
        await lengthOf(clinic, `${list}?event=read`),
      ];
      expect(created + updated + read).toBe(all);
      return { created, updated, read };
    };
    const read = () => given(clinic.client.get(`${path}/egresses/${id}`));
    expect(await lengths()).toEqual({ created: 1, updated: 0, read: 0 });
    await report({ ...starting, error: "The disk is slow" });
    expect(await lengths()).toEqual({ created: 1, updated: 1, read: 0 });
    for (let n = 1; n <= 3; n++) await read();
    expect(await lengths()).toEqual({ created: 1, updated: 1, read: 3 });
    await report({ status: "egress_ended" });
    expect(await lengths()).toEqual({ created: 1, updated: 2, read: 3 });
    await report({ status: "egress_ended" });
    expect(await lengths()).toEqual({ created: 1, updated: 2, read: 3 });
    expect(await lengths(other.id)).toEqual({ created: 1, updated: 0, read: 0 });
  });

  it("of a range of dates, where some lie beyond it", async () => {
    const clinic = await anOrganization();
    travelTo("2027-01-31T09:30:00Z");
    const { path, addEgress } = await aCall(clinic);
    const { id } = await addEgress();
    const list = `${path}/egresses/${id}/audit_logs`;
    for (const day of ["2027-02-01", "2027-02-02", "2027-02-03"]) {
      travelTo(`${day}T09:30:00Z`);
      await given(clinic.client.get(`${path}/egresses/${id}`));
    }
    expect(await lengthOf(clinic, `${list}?from=2027-02-01&to=2027-02-02`)).toBe(2);
    expect(await lengthOf(clinic, `${list}?to=2027-02-01`)).toBe(2);
    expect(await lengthOf(clinic, `${list}?from=2027-02-01&event=create`)).toBe(0);
  });
});
