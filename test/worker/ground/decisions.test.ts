import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { MAX_WRITE_ATTEMPTS } from "../../../src/tuning.ts";
import { platform } from "../support/api.ts";
import { reportCall, STARTED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { throughWorkerWith } from "../support/worker.ts";

const WAITING_SINCE = "2026-01-31T09:20:00.000Z";

const rita = { display_name: "Rita Recipient", role: "recipient", waiting_since: WAITING_SINCE };

/** The platform API, interrupted between reading and writing in the first attempts of a request. */
function platformInterrupted(interruptions: number, interrupt: () => Promise<unknown>) {
  let trips = 0;
  let left = interruptions;
  const DB = observedDatabase({
    async query(run) {
      trips++;
      const result = await run();
      if (trips % 2 === 1 && left-- > 0) await interrupt();
      return result;
    },
  });
  return { ...platform.through(throughWorkerWith({ DB })), trips: () => trips };
}

async function aWaitingParticipant() {
  const clinic = await anOrganization();
  const { slug } = await clinic.addRoom();
  const { key } = await clinic.addParticipant(slug, rita);
  return { clinic, slug, key, path: `/waiting_rooms/${slug}/participants/${key}` };
}

describe("A report whose rows change between reading and writing", () => {
  it("is decided again, and keeps the other report's changes", async () => {
    const { path } = await aWaitingParticipant();
    const api = platformInterrupted(1, () =>
      platform.put(path, { participant: { left_at: "2026-01-31T09:40:00.000Z" } }),
    );
    const { status, body } = await api.put(path, { participant: { display_name: "Rita R." } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ display_name: "Rita R.", left_at: "2026-01-31T09:40:00.000Z" });
    expect(api.trips()).toBe(4);
  });

  it("is decided again if the row was absent", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const path = `/waiting_rooms/${slug}/participants/${unique("rita")}`;
    const api = platformInterrupted(1, () =>
      platform.put(path, { participant: { ...rita, user_id: clinic.admin.user_id } }),
    );
    const { status, body } = await api.put(path, { participant: rita });
    expect(status).toBe(200);
    expect(body.user_id).toBe(clinic.admin.user_id);
    const { waiting_count } = await given(clinic.client.get(`/waiting_rooms/${slug}`));
    expect(waiting_count).toBe(1);
  });

  it("is refused if it is no longer possible", async () => {
    const { clinic, slug } = await aWaitingParticipant();
    const path = `/waiting_rooms/${slug}/participants/${unique("rita")}`;
    const api = platformInterrupted(1, () =>
      clinic.client.put(`/waiting_rooms/${slug}`, { waiting_room: { is_active: false } }),
    );
    expectRefusal(await api.put(path, { participant: rita }), 422, /not active/);
  });

  it("lets nobody enter a room that was renamed meanwhile, but lets people leave", async () => {
    const { clinic, slug, path } = await aWaitingParticipant();
    const renaming = () => clinic.client.put(`/waiting_rooms/${slug}`, { waiting_room: { name: "Renamed" } });
    const entering = platformInterrupted(1, renaming);
    const other = `/waiting_rooms/${slug}/participants/${unique("paul")}`;
    expectRefusal(await entering.put(other, { participant: rita }), 404, /was renamed/);
    const left_at = "2026-01-31T09:40:00.000Z";
    expect(await platform.put(path, { participant: { left_at } })).toMatchObject({
      status: 200,
      body: { left_at },
    });
  });

  it("returns 503 with Retry-After after the maximum of attempts, and has changed nothing", async () => {
    const { path } = await aWaitingParticipant();
    let times = 0;
    const api = platformInterrupted(Number.POSITIVE_INFINITY, () =>
      platform.put(path, { participant: { display_name: `Rita ${++times}` } }),
    );
    const answer = await api.put(path, { participant: { left_at: "2026-01-31T09:40:00.000Z" } });
    expectRefusal(answer, 503, /try again/);
    expect(answer.headers.get("Retry-After")).toBe("1");
    expect(api.trips()).toBeGreaterThan(4);
    expect(api.trips()).toBeLessThanOrEqual(2 * MAX_WRITE_ATTEMPTS);
    expect((await given(platform.put(path, { participant: {} }))).left_at).toBeNull();
  }, 20_000);
});

it("A report that says nothing new writes nothing, in one round trip", async () => {
  const { path } = await aWaitingParticipant();
  const api = platformInterrupted(0, async () => {});
  const rows = () => env.DB.prepare("select * from participants order by id").all();
  const before = await rows();
  await given(api.put(path, { participant: rita }));
  expect(api.trips()).toBe(1);
  expect((await rows()).results).toEqual(before.results);
});

describe("A report finds the row that it read,", () => {
  const ODD = `"quotes" \\ back/slash 'it''s' ☺ 👩‍⚕️ é \u2028\u2029 \ufeff {"a":[1,null]} 0 1e3 -0`;

  it.each([ODD, "null", "true", "1", "1.0", "[]", '"', "\\u0041"])("whatever it holds: %s", async (odd) => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const key = `${unique("rita")} ${odd}`.trim();
    const path = `/waiting_rooms/${slug}/participants/${encodeURIComponent(key)}`;
    await given(platform.put(path, { participant: { ...rita, display_name: odd } }));
    const { body } = await platform.put(path, { participant: { left_at: "2026-01-31T09:40:00Z" } });
    expect(body).toMatchObject({ key, display_name: odd.trim(), left_at: "2026-01-31T09:40:00.000Z" });
    const call = {
      waiting_room_slug: slug,
      organization_user_id: clinic.admin.id,
      started_at: STARTED_AT,
      participants: [{ key, joined_at: "2026-01-31T09:50:00Z", recording_consent: false }],
    };
    const reported = await given(reportCall(clinic, `${unique("call")} ${odd}`.trim(), call));
    const known = await given(platform.put(path, { participant: { user_id: clinic.admin.user_id } }));
    expect(known).toMatchObject({ call_id: reported.id, display_name: odd.trim(), left_at: null });
  });
});
