import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, ENDED_AT, knownParticipant, waitingCount } from "../support/calls.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { aClinicWithProvider, change, remove, userOf } from "../support/members.ts";
import { anOrganization, given } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const NEXT_CENTURY = { datetime_start: "2126-01-31T09:00:00Z", datetime_end: "2126-01-31T10:00:00Z" };

const LOST = { roles: ["provider_assistant"] };

type Clinic = Awaited<ReturnType<typeof aClinicWithProvider>>;

const LOSSES: [string, (of: Clinic) => Promise<unknown>][] = [
  ["with the role", ({ clinic, paula }) => given(change(clinic, paula, LOST))],
  ["with the membership", ({ clinic, paula }) => given(remove(clinic, paula))],
];

describe("PUT /organizations/{organization_id}/users/{id}", () => {
  it("returns the changed user with their assists", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const al = await clinic.addUser("Al Assistant", ["provider_assistant"]);
    const user = { display_name: "Dr. Al", roles: ["provider", "provider_assistant"], assists: [paula.id] };
    const changed = await change(clinic, al, user);
    expect(changed.body).toEqual({
      id: al.id,
      user_id: al.user_id,
      organization_id: clinic.id,
      email: al.email,
      display_name: "Dr. Al",
      roles: ["provider_assistant", "provider"],
      waiting_room_slug: `${clinic.slug}--dr-al`,
      assists: [paula.id],
    });
    expect(await userOf(clinic, al)).toEqual(changed.body);
  });

  it("keeps fields that are left out", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
    const before = { ...al, assists: [paula.id] };
    expect((await change(clinic, al, {})).body).toEqual(before);
    const renamed = { ...before, display_name: "Al A." };
    expect((await change(clinic, al, { display_name: "Al A." })).body).toEqual(renamed);
    const promoted = { ...renamed, roles: ["provider_assistant", "organization_admin"] };
    expect((await change(clinic, al, { roles: promoted.roles })).body).toEqual(promoted);
    expect((await change(clinic, al, { assists: [] })).body).toEqual({ ...promoted, assists: [] });
  });

  it("refuses an empty list of roles, and points to DELETE", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const refused = await changingNothing(() => change(clinic, paula, { roles: [] }));
    expectRefusal(refused, 422, /user\.roles: .*DELETE/);
  });
});

describe("The personal room of a member", () => {
  it("is created with the provider role, with the member's current name and its own slug", async () => {
    const clinic = await anOrganization();
    const al = await clinic.addUser("Al User", ["provider_assistant"]);
    const changed = await given(change(clinic, al, { roles: ["provider"] }));
    expect(changed.waiting_room_slug).toBe(`${clinic.slug}--al-user`);
    expect(await given(clinic.client.get(`/waiting_rooms/${changed.waiting_room_slug}`))).toMatchObject({
      user_id: al.user_id,
      name: "Al User",
      theme: "default",
      is_active: true,
      user: { display_name: "Al User" },
    });
    const renamed = change(clinic, clinic.admin, { display_name: "Al User", roles: ["provider"] });
    expect((await given(renamed)).waiting_room_slug).toBe(`${changed.waiting_room_slug}-2`);
  });

  it("keeps its name and slug when the member is renamed, or gains another role", async () => {
    const { clinic, paula, room } = await aClinicWithProvider();
    const before = await given(clinic.client.get(room));
    const more = { display_name: "Dr. Paula", roles: ["provider", "organization_admin"] };
    const renamed = await given(change(clinic, paula, more));
    expect(renamed.waiting_room_slug).toBe(paula.waiting_room_slug);
    expect(await given(clinic.client.get(room))).toEqual({ ...before, user: { display_name: "Dr. Paula" } });
  });

  it.each(LOSSES)("is retired %s, and cannot be read, changed, entered or listed", async (_, lose) => {
    const { clinic, paula, room } = await aClinicWithProvider();
    await lose({ clinic, paula, room });
    expect((await userOf(clinic, paula)).waiting_room_slug).toBeNull();
    expectRefusal(await clinic.client.get(room), 404);
    expectRefusal(await clinic.client.put(room, { waiting_room: { name: "Mine" } }), 404);
    expectRefusal(await clinic.client.delete(room), 404);
    expectRefusal(await clinic.client.get(`${room}/waiting_room_subs`), 404);
    expectRefusal(await platform.get(room), 404);
    await expect(clinic.addParticipant(paula.waiting_room_slug)).rejects.toThrow("404");
    expect((await given(clinic.client.get("/waiting_rooms"))).waiting_rooms).toEqual([]);
  });

  it("is restored when the member becomes a provider again", async () => {
    const { clinic, paula, room } = await aClinicWithProvider();
    const renaming = clinic.client.put(room, {
      waiting_room: { name: "Cardiology", theme: "blue", is_active: false },
    });
    const { updated_at: _, ...before } = await given(renaming);
    await given(change(clinic, paula, LOST));
    await clinic.addProvider("Paula Provider");
    const changed = await given(change(clinic, paula, { display_name: "Dr. Paula", roles: ["provider"] }));
    expect(changed.waiting_room_slug).toBe(before.slug);
    expect(await given(clinic.client.get(`/waiting_rooms/${before.slug}`))).toEqual({
      ...before,
      user: { display_name: "Dr. Paula" },
      updated_at: aTimestamp,
    });
  });

  it("stays while somebody is in it, waiting or on a call: the role cannot be taken away", async () => {
    const { clinic, paula, room } = await aClinicWithProvider();
    const { key } = await clinic.addParticipant(paula.waiting_room_slug);
    const external = (roles: string[]) =>
      clinic.client.put(`/organization_users/${paula.id}`, { organization_user: { roles } });
    for (const [refused, field] of [
      [() => change(clinic, paula, LOST), "user"],
      [() => external(LOST.roles), "organization_user"],
    ] as const)
      expectRefusal(
        await changingNothing(refused),
        422,
        new RegExp(`^${field}\\.roles: must include provider`),
      );
    await given(change(clinic, paula, { display_name: "Dr. Paula", roles: ["provider"] }));
    const here = { waiting_room_slug: paula.waiting_room_slug, ended_at: null };
    const call = await aCall(clinic, { ...here, participants: [aRecipient({ key })] }, paula);
    expectRefusal(await changingNothing(() => external(LOST.roles)), 422);
    await given(call.report({ ended_at: ENDED_AT }));
    await given(external(LOST.roles));
    expectRefusal(await clinic.client.get(room), 404);
  });

  it("loses its waiting participants when it is retired", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const slug = paula.waiting_room_slug;
    const ahead = new Date(Date.now() + 50_000).toISOString();
    await clinic.addParticipant(slug, {}, "rita");
    await clinic.addParticipant(slug, { waiting_since: ahead }, "ahead");
    await clinic.addParticipant(slug, { waiting_since: fromNow(-9), left_at: fromNow(-5) }, "gone");
    const elsewhere = await clinic.addRoom();
    await clinic.addParticipant(elsewhere.slug, {}, "olga");
    const gone = await knownParticipant(slug, "gone");
    const now = new Date(Date.now() + 10_000).toISOString();
    travelTo(now);
    await given(clinic.platform.delete(`/users/${paula.id}`));
    const known = (key: string) => knownParticipant(slug, key);
    expect((await known("rita")).left_at).toBe(now);
    expect((await known("ahead")).left_at).toBe(ahead);
    expect(await known("gone")).toEqual(gone);
    expect(await waitingCount(clinic, elsewhere.slug)).toBe(1);
    await clinic.addProvider("Paula Provider", { returning_user_id: paula.id });
    expect(await waitingCount(clinic, slug)).toBe(0);
    await clinic.addParticipant(slug);
    expect(await waitingCount(clinic, slug)).toBe(1);
  });

  it.each(LOSSES)(
    "takes the member's subs along when it is retired %s, and keeps those of others",
    async (_, lose) => {
      const { clinic, paula, room } = await aClinicWithProvider();
      const sam = await clinic.addProvider("Sam Substitute");
      const { slug } = await clinic.addRoom();
      const held = await clinic.addSub(slug, { user_id: paula.user_id, ...NEXT_CENTURY });
      const other = await clinic.addSub(slug, {
        user_id: sam.user_id,
        datetime_start: "2127-01-31T09:00:00Z",
      });
      await lose({ clinic, paula, room });
      const { waiting_room_subs } = await given(
        clinic.client.get(`/waiting_rooms/${slug}/waiting_room_subs`),
      );
      expect(waiting_room_subs).toEqual([
        { ...held, user_id: null, sub_waiting_room_slug: null, updated_at: aTimestamp },
        other,
      ]);
      const again = await clinic.client.put(`/waiting_rooms/${slug}/waiting_room_subs/${held.id}`, {
        waiting_room_sub: { user_id: paula.user_id },
      });
      expectRefusal(again, 422, /user_id/);
    },
  );

  it("is no longer the destination during a sub", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const { slug } = await clinic.addRoom();
    await clinic.addSub(slug, { user_id: paula.user_id, datetime_start: fromNow(-5).replace(/\.\d+/, "") });
    const destination = async () => (await given(platform.get(`/waiting_rooms/${slug}`))).destination_slug;
    expect(await destination()).toBe(paula.waiting_room_slug);
    await given(change(clinic, paula, LOST));
    expect(await destination()).toBe(slug);
  });
});

describe("The assists of a member", () => {
  async function anAssistant() {
    const { clinic, paula } = await aClinicWithProvider();
    const peter = await clinic.addProvider("Peter Provider");
    const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
    const client = await clinic.addClient(al.id);
    const reached = async () =>
      (await given(client.get("/organization_users"))).organization_users.map(({ id }: { id: number }) => id);
    return { clinic, paula, peter, al, client, reached };
  }

  it("are replaced as a whole", async () => {
    const { clinic, peter, al, reached } = await anAssistant();
    const changed = await given(change(clinic, al, { assists: [peter.id, peter.id] }));
    expect(changed.assists).toEqual([peter.id]);
    expect(await reached()).toEqual([peter.id, al.id]);
  });

  it("are empty once the member is not a provider_assistant, and stay empty if the role returns", async () => {
    const { clinic, al, reached } = await anAssistant();
    expect((await given(change(clinic, al, { roles: ["provider"] }))).assists).toEqual([]);
    expect((await given(change(clinic, al, LOST))).assists).toEqual([]);
    expect(await reached()).toEqual([al.id]);
  });

  it.each([
    ["for a member without the role", {}],
    ["together with roles that lack it", { roles: ["provider", "organization_admin"] }],
  ])("are refused %s", async (_, user) => {
    const { clinic, peter, al } = await anAssistant();
    const member = "roles" in user ? al : clinic.admin;
    const refused = await changingNothing(() => change(clinic, member, { ...user, assists: [peter.id] }));
    expectRefusal(refused, 422, "user.assists: is only for users with the role provider_assistant");
    await given(change(clinic, member, { ...user, assists: [] }));
  });

  it("must be providers of the organization", async () => {
    const { clinic, paula, al } = await anAssistant();
    const stranger = await (await anOrganization()).addProvider();
    for (const id of [clinic.admin.id, al.id, stranger.id, 999_999_999]) {
      const refused = await changingNothing(() => change(clinic, al, { assists: [paula.id, id] }));
      expectRefusal(refused, 422, "user.assists.1: must be a provider of the organization");
    }
  });

  it("can keep a former provider, but not gain one", async () => {
    const { clinic, paula, peter, al, client, reached } = await anAssistant();
    const call = await aCall(clinic, {}, paula);
    await given(change(clinic, paula, LOST));
    await given(change(clinic, peter, LOST));
    expect((await userOf(clinic, al)).assists).toEqual([paula.id]);
    expect(await reached()).toEqual([paula.id, al.id]);
    const { calls } = await given(client.get(`/organization_users/${paula.id}/calls`));
    expect(calls).toMatchObject([{ id: call.id }]);
    expect((await given(change(clinic, al, { assists: [paula.id] }))).assists).toEqual([paula.id]);
    expectRefusal(await change(clinic, al, { assists: [paula.id, peter.id] }), 422, /user\.assists/);
  });
});
