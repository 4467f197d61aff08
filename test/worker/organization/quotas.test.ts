import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { MAX_BULK_ROWS, MAX_SUBS, MAX_UNUSED_INVITES } from "../../../src/limits.ts";
import { MINUTE } from "../../../src/units.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { accept } from "../support/invites.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";
import { aClinicWithQueue, leavingNoInvites } from "../support/queue.ts";
import { insertMany } from "../support/rows.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing, leavingNoRows } from "../support/unchanged.ts";

const DAY = 24 * 60;

describe("The quota of subs per waiting room", () => {
  const FULL =
    "The waiting room has 1,000 subs that are not over yet, which is the most that it can have: delete one first, or wait until one is over";

  /** A room with one-hour subs, back to back from tomorrow on. */
  async function aRoomWith(size: number) {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const { slug, id } = await clinic.addRoom();
    leavingNoRows(clinic.id, "waiting_room_subs");
    const tomorrow = Date.now() + DAY * MINUTE;
    await insertMany(
      size,
      `insert into waiting_room_subs (organization_id, waiting_room_id, datetime_start, datetime_end, created_at, updated_at)
       select ?1, ?2, ?3 + n * 3600000, ?3 + (n + 1) * 3600000, 0, 0 from counter`,
      ...[clinic.id, id, tomorrow],
    );
    const path = `/waiting_rooms/${slug}/waiting_room_subs`;
    const sub = (start: number, hours = 1) => ({
      waiting_room_sub: {
        user_id: paula.user_id,
        datetime_start: new Date(start).toISOString(),
        datetime_end: new Date(start + hours * 60 * MINUTE).toISOString(),
      },
    });
    return {
      clinic,
      path,
      sub,
      /** Creates a one-hour sub on its own day, after all others. */
      later: (n: number) => clinic.client.post(path, sub(tomorrow + (100 + n) * DAY * MINUTE)),
      earlier: (n: number) => clinic.client.post(path, sub(Date.now() - (n + 1) * DAY * MINUTE)),
    };
  }

  it("is a thousand subs, even if many are created at once", async () => {
    const { clinic, path, later } = await aRoomWith(MAX_SUBS - 10);
    const answers = await atOnce(30, later);
    expect(statusesOf(answers)).toEqual({ 201: 10, 422: 20 });
    const { waiting_room_subs } = await given(clinic.client.get(path));
    expect(waiting_room_subs).toHaveLength(MAX_SUBS);
    expectGone(await clinic.client.delete(`${path}/${waiting_room_subs[0].id}`));
    await given(later(40));
    expectRefusal(await changingNothing(() => later(41)), 422, FULL);
  });

  it("does not count past subs, which can still be added", async () => {
    const { clinic, path, sub, earlier, later } = await aRoomWith(MAX_SUBS);
    const past = await given(earlier(3));
    // A past sub cannot be moved into the future, where it would count.
    const { datetime_start, datetime_end } = sub(Date.now() + 200 * DAY * MINUTE).waiting_room_sub;
    const update = { waiting_room_sub: { datetime_start, datetime_end } };
    expectRefusal(await clinic.client.put(`${path}/${past.id}`, update), 422, FULL);
    const [next] = (await given(clinic.client.get(path))).waiting_room_subs;
    await given(clinic.client.put(`${path}/${next.id}`, update));
    travelTo(fromNow(DAY + 3 * 60));
    await given(later(1));
  });
});

describe("The quota of unused invites", () => {
  const FULL =
    "The organization has 10,000 unused invites, which is the most that it can have: delete some first, for example expired ones";

  async function aClinicWithInvites(size: number) {
    const clinic = await aClinicWithQueue();
    await insertMany(
      size,
      `insert into invites (organization_id, created_by_user_id, email, display_name, roles, expires_at, created_at, updated_at)
       select ?1, ?2, n || '@full.example', 'Invitee', '["provider"]', ?3, 0, 0 from counter`,
      ...[clinic.id, clinic.admin.user_id, Date.now() + DAY * MINUTE],
    );
    return clinic;
  }

  const invite = ({ client }: Pick<Organization, "client">) =>
    client.post("/invites", { organization_invite: anInvite() });

  it("is ten thousand invites, even if many are created at once, and does not count used ones", async () => {
    const clinic = await aClinicWithInvites(MAX_UNUSED_INVITES - 10);
    const answers = await atOnce(30, () => invite(clinic));
    expect(statusesOf(answers)).toEqual({ 201: 10, 422: 20 });
    const [one, other] = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    await given(accept(one));
    expect((await invite(clinic)).status).toBe(201);
    expectRefusal(await invite(clinic), 422, FULL);
    expectGone(await clinic.client.delete(`/invites/${other.id}`));
    await given(invite(clinic));
    await given(invite(await anOrganization()));
  });

  it("fails only the rows of a bulk invite that are beyond it", async () => {
    const clinic = await aClinicWithInvites(MAX_UNUSED_INVITES - 60);
    const rows = Array.from({ length: 100 }, () => anInvite());
    const { id, messages } = await clinic.bulkInvite(rows);
    for (const message of messages) await clinic.consume([message]);
    const progress = await clinic.progressOf({ id });
    expect(progress).toMatchObject({ status: "completed", created_count: 60, failed_count: 40 });
    expect(progress.failures).toEqual(
      rows.slice(60).map(({ email }, n) => ({ row: 60 + n, email, error: FULL })),
    );
  });
});

describe("The daily quota of bulk invite rows", () => {
  const FULL =
    "An organization can send at most 20,000 rows of bulk invites in 24 hours, and this request exceeds that: send fewer, or try again in an hour";

  async function aClinicThatSent(total_count: number, minutes_ago = 1) {
    const clinic = await aClinicWithQueue();
    leavingNoInvites(clinic);
    const at = Date.now() - minutes_ago * MINUTE;
    await env.DB.prepare(
      `insert into bulk_invites (organization_id, created_by_user_id, total_count, completed_at, created_at, updated_at)
       values (?1, ?2, ?3, ?4, ?4, ?4)`,
    )
      .bind(clinic.id, clinic.admin.user_id, total_count, at)
      .run();
    const send = (rows = 1) =>
      clinic.client.post("/invites/bulk_create", {
        organization_invites: Array.from({ length: rows }, () => anInvite()),
      });
    return { clinic, send };
  }

  it("is twenty thousand rows, even if many requests come at once, and a request beyond it takes nothing", async () => {
    const { send } = await aClinicThatSent(MAX_BULK_ROWS - 20);
    expectRefusal(await send(21), 429, FULL);
    const answers = await atOnce(30, () => send(2));
    expect(statusesOf(answers)).toEqual({ 201: 10, 429: 20 });
    for (const answer of answers.filter(({ status }) => status === 429)) {
      expectRefusal(answer, 429, FULL);
      expect(answer.headers.get("Retry-After")).toBe("3600");
    }
  });

  it("counts the rows of the last 24 hours, per organization", async () => {
    const { send } = await aClinicThatSent(MAX_BULK_ROWS, DAY - 90);
    expectRefusal(await changingNothing(() => send()), 429, FULL);
    const { send: neighbours } = await aClinicThatSent(MAX_BULK_ROWS, DAY + 1);
    await given(neighbours(1000));
  });
});
