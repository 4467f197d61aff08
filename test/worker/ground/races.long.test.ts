import { describe, expect, it } from "vitest";
import { type Answer, type Api, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, aRecipient, callsOf, ENDED_AT, STARTED_AT, WAITING_SINCE } from "../support/calls.ts";
import { countingRoundTrips, storedRows } from "../support/database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { fileExists, storeFile } from "../support/storage.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

/** A report that loses a race is read and decided again: two round trips for each of at most 15 attempts. */
const MAX_TRIPS = 2 * 15;

/** Sends requests at once. None may return an internal error, or ask the database too often. */
async function reportAtOnce(count: number, send: (api: Api, n: number) => Promise<Answer>) {
  const answers: Answer[] = [];
  const trips = await Promise.all(
    numbers(count).map((n) => {
      const counting = countingRoundTrips();
      return counting.during(async () => {
        answers[n] = await send(platform.through(counting.fetcher), n);
      });
    }),
  );
  expect(Math.max(...answers.map(({ status }) => status))).toBeLessThan(500);
  expect(Math.max(...trips)).toBeLessThanOrEqual(MAX_TRIPS);
  return answers;
}

/** Like `reportAtOnce`, but every request must succeed. */
async function reportAllAtOnce(count: number, send: (api: Api, n: number) => Promise<Answer>) {
  const answers = await reportAtOnce(count, send);
  expect(answers.map(({ status }) => status)).toEqual(numbers(count).map(() => 200));
  return answers.map(({ body }) => body);
}

const aCallUrl = ({ id }: Organization) => `/organizations/${id}/calls/${unique("call")}`;

async function aClinicWithCall() {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const provider = await clinic.addProvider();
  const url = aCallUrl(clinic);
  const first = { waiting_room_slug: room.slug, organization_user_id: provider.id, started_at: STARTED_AT };
  return { clinic, room, provider, url, first };
}

const reportCall = (api: Api, url: string, call: object) => api.put(url, { call });

const callsByDate = async ({ client }: Organization, query: string) =>
  (await given(client.get(`/call_metrics?${query}`))).total_calls;

const DAY = "date_start=2026-01-31&date_end=2026-01-31";

const keysOf = (people: { key?: unknown }[]) => people.map(({ key }) => key).sort();

describe("Thirty requests at once", () => {
  it("to DELETE /waiting_rooms/{slug} and to enter the room: either it is retired, or all enter", async () => {
    const clinic = await anOrganization();
    for (let round = 0; round < 5; round++) {
      const room = await clinic.addRoom({ name: unique("room") });
      const answers = await atOnce(30, (n) =>
        n % 2 === round % 2
          ? clinic.client.delete(`/waiting_rooms/${room.slug}`)
          : platform.put(`/waiting_rooms/${room.slug}/participants/${unique("participant")}`, {
              participant: {
                display_name: "Rita Recipient",
                role: "recipient",
                waiting_since: "2026-01-31T09:30:00Z",
              },
            }),
      );
      const { 204: retired = 0, 200: entered = 0 } = statusesOf(answers);
      expect([
        [1, 0],
        [0, 15],
      ]).toContainEqual([retired, entered]);
    }
  });

  it("to POST /organizations with one name: all are created, with different slugs", async () => {
    const name = unique("clinic");
    const answers = await atOnce(30, () => platform.post("/organizations", { organization: { name } }));
    expect(statusesOf(answers)).toEqual({ 201: 30 });
    const slugs = numbers(30).map((n) => (n === 0 ? name : `${name}-${n + 1}`));
    expect(answers.map(({ body }) => body.slug).sort()).toEqual(slugs.sort());
  });

  it("to PUT /organizations/{organization_id} with different fields: no change is lost", async () => {
    const { id } = await anOrganization();
    const changes = [{ name: "Hill" }, { recording_retention_days: 30 }, { transcript_retention_days: 60 }];
    const answers = await atOnce(30, (n) =>
      platform.put(`/organizations/${id}`, { organization: changes[n % 3] }),
    );
    expect(statusesOf(answers)).toEqual({ 200: 30 });
    expect(await given(platform.get(`/organizations/${id}`))).toMatchObject(Object.assign({}, ...changes));
  });

  it("to POST …/users for one person: one membership and one personal room are created", async () => {
    const clinic = await anOrganization();
    const user = { email: `${unique("user")}@example.com`, display_name: "Paul", roles: ["provider"] };
    const answers = await atOnce(30, () => platform.post(`/organizations/${clinic.id}/users`, { user }));
    expect(statusesOf(answers)).toEqual({ 201: 1, 422: 29 });
    const rooms = await clinic.client.get("/waiting_rooms");
    expect(rooms.body.waiting_rooms.filter(({ name }: { name: string }) => name === "Paul")).toHaveLength(1);
  });

  it("to PUT …/soap_note with parts of a note: no part is lost, and the final note does not change", async () => {
    const call = await aCall(await anOrganization());
    await given(call.reportSoapNote({ text: "A draft.", is_final: false }));
    const answers = await atOnce(30, (n) =>
      call.reportSoapNote(n % 2 ? { text: "The note." } : { is_final: true }),
    );
    const { body } = await call.reportSoapNote({});
    const wereFinal = answers.filter((answer) => answer.body.is_final).map((answer) => answer.body.text);
    expect(new Set(wereFinal)).toEqual(new Set([body.text]));
    expect(body.is_final).toBe(true);
  });

  it("to PUT …/transcript with different lines: the transcript has the lines of one request", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const [{ key: participant_key }] = call.participants;
    const linesOf = (n: number) =>
      ["one", "two", "three"].map((text, at) => ({
        participant_key,
        text: `${text} of ${n}`,
        start_time: at,
        end_time: at + 1,
      }));
    const answers = await atOnce(30, (n) => call.reportTranscript({ is_final: false, lines: linesOf(n) }));
    const texts = (body: { transcript_lines: { text: string }[] }) =>
      body.transcript_lines.map(({ text }) => text);
    for (const [n, { status, body }] of answers.entries()) {
      expect(status).toBe(200);
      expect(texts(body)).toEqual(linesOf(n).map(({ text }) => text));
    }
    const { body } = await clinic.client.get(`${call.path}/transcript`);
    expect(answers.map((answer) => texts(answer.body))).toContainEqual(texts(body));
  });
});

it.each(["transcript", "soap_note"])(
  "Thirty simultaneous deletions of a text, while a legal hold begins, either delete it or are all refused: %s",
  async (text) => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await given(call.reportSoapNote({ text: "A cough.", is_final: true }));
    const path = `${call.url}/${text}`;
    const answers = await reportAtOnce(31, (api, n) =>
      n === 15 ? api.put(`${call.url}/legal_hold`, { legal_hold: {} }) : api.delete(path),
    );
    const { 204: deleted = 0, 422: refused = 0 } = statusesOf(answers);
    expect(deleted + refused).toBe(30);
    const { status } = await clinic.client.get(`${call.path}/${text}`);
    expect(status).toBe(deleted > 0 ? 404 : 200);
    expect((await platform.delete(path)).status).toBe(422);
  },
);

it.each([0, 3, 15])(
  "Thirty simultaneous deletions of a recording, while a legal hold begins, either delete its file or are all refused: after %d of them",
  async (n) => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const storage_key = `${clinic.slug}/${unique("file")}.wav`;
    await storeFile(storage_key);
    const { id, egress_id } = await call.addEgress({ storage_key });
    const answers = await reportAtOnce(31, (api, nth) =>
      nth === n
        ? api.put(`${call.url}/legal_hold`, { legal_hold: {} })
        : api.delete(`/organizations/${clinic.id}/egresses/${egress_id}`),
    );
    const { 204: deleted = 0, 422: refused = 0 } = statusesOf(answers);
    expect(deleted + refused).toBe(30);
    const isDeleted = deleted > 0;
    expect(await fileExists(storage_key)).toBe(!isDeleted);
    const { status } = await given(clinic.client.get(`${call.path}/egresses/${id}`));
    expect(status).toBe(isDeleted ? "egress_deleted" : "egress_ended");
  },
);

describe("Thirty simultaneous first reports with PUT …/calls/{key}", () => {
  it("create one call with all participants, if each names another one", async () => {
    const { clinic, provider, url, first } = await aClinicWithCall();
    const people = numbers(30).map(() => aRecipient({ waiting_since: WAITING_SINCE }));
    const reported = await reportAllAtOnce(30, (api, n) =>
      reportCall(api, url, { ...first, participants: [people[n]] }),
    );
    const [call] = await callsOf(clinic, provider);
    expect(new Set(reported.map(({ id }) => id))).toEqual(new Set([call.id]));
    const participants = await storedRows(clinic, "participants");
    expect(keysOf(participants)).toEqual(keysOf(people));
    expect(new Set(participants.map(({ call_id }) => call_id))).toEqual(new Set([call.id]));
    expect(await callsByDate(clinic, DAY)).toEqual({ "2026-01-31": 1 });
  });
});

describe("Thirty simultaneous later reports with PUT …/calls/{key}", () => {
  it("leave nobody behind in the waiting room, if each lets another participant join", async () => {
    const { clinic, room, url, first } = await aClinicWithCall();
    const { id } = await given(reportCall(platform, url, first));
    const people = numbers(30).map(() => aRecipient({ joined_at: "2026-01-31T09:31:00.000Z" }));
    for (const person of people)
      await clinic.addParticipant(room.slug, { waiting_since: WAITING_SINCE }, person.key);
    await reportAllAtOnce(30, (api, n) => reportCall(api, url, { participants: [people[n]] }));
    const participants = await storedRows(clinic, "participants");
    expect(keysOf(participants)).toEqual(keysOf(people));
    expect(participants.map(({ call_id }) => call_id)).toEqual(numbers(30).map(() => id));
    expect((await given(clinic.client.get(`/waiting_rooms/${room.slug}`))).waiting_count).toBe(0);
  });

  it("keep all changes, if each changes another participant", async () => {
    const { clinic, url, first } = await aClinicWithCall();
    const people = numbers(30).map(() => aRecipient({ recording_consent: null }));
    await given(reportCall(platform, url, { ...first, participants: people }));
    await reportAllAtOnce(30, (api, n) =>
      reportCall(api, url, {
        participants: [{ key: people[n]?.key, display_name: `Rita ${n}`, recording_consent: n % 2 === 0 }],
      }),
    );
    const [participants, records] = [
      await storedRows(clinic, "participants"),
      await storedRows(clinic, "people"),
    ];
    expect(participants).toHaveLength(30);
    for (const [n, { key }] of people.entries()) {
      const participant = participants.find((each) => each.key === key);
      expect(participant).toMatchObject({ recording_consent: n % 2 === 0 ? 1 : 0 });
      const record = records.find(({ id }) => id === participant?.person_id);
      expect(record).toMatchObject({ display_name: `Rita ${n}` });
    }
  });
});

it("Thirty simultaneous first PUT /waiting_rooms/{slug}/participants/{key} create one waiting participant", async () => {
  const { clinic, room } = await aClinicWithCall();
  const { key, display_name, role } = aRecipient();
  const participant = { display_name, role, waiting_since: WAITING_SINCE };
  const reported = await reportAllAtOnce(30, (api) =>
    api.put(`/waiting_rooms/${room.slug}/participants/${key}`, { participant }),
  );
  expect(new Set(reported.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(keysOf(await storedRows(clinic, "participants"))).toEqual([key]);
  expect((await given(clinic.client.get(`/waiting_rooms/${room.slug}`))).waiting_count).toBe(1);
});

it("PUT …/calls/{key} and DELETE /waiting_rooms/{slug} at once: either calls start, or the room is retired", async () => {
  const clinic = await anOrganization();
  const provider = await clinic.addProvider();
  const started: number[] = [];
  for (let round = 0; round < 6; round++) {
    const { slug } = await clinic.addRoom({ name: unique("room") });
    const isRetirement = (n: number) => n % 2 === round % 2;
    const answers = await reportAtOnce(30, (api, n) =>
      isRetirement(n)
        ? clinic.client.delete(`/waiting_rooms/${slug}`)
        : reportCall(api, aCallUrl(clinic), {
            waiting_room_slug: slug,
            organization_user_id: provider.id,
            started_at: STARTED_AT,
          }),
    );
    const statuses = (ofRetirement: boolean) =>
      answers
        .filter((_, n) => isRetirement(n) === ofRetirement)
        .map(({ status }) => status)
        .sort()
        .join();
    const refused = (count: number, status: number) => numbers(count).map(() => status);
    expect([
      { retirements: [204, ...refused(14, 404)].join(), starts: refused(15, 422).join() },
      { retirements: refused(15, 422).join(), starts: refused(15, 200).join() },
    ]).toContainEqual({ retirements: statuses(true), starts: statuses(false) });
    started.push(...answers.flatMap(({ status, body }) => (status === 200 ? [body.id] : [])));
  }
  const calls = await storedRows(clinic, "calls");
  expect(calls.map(({ id }) => id)).toEqual(started.sort((a, b) => a - b));
});

describe("The end of a call, reported while its participants leave,", () => {
  const leavingAt = (n: number) => `2026-01-31T09:4${n}:00.000Z`;

  it.each([
    ["by reports of their own", true],
    ["by reports of the call", false],
  ])("keeps each left_at that was reported: %s", async (_, isOwnReport) => {
    const { clinic, room, url, first } = await aClinicWithCall();
    for (let round = 0; round < 3; round++) {
      const people = numbers(10).map(() =>
        aRecipient({ waiting_since: WAITING_SINCE, joined_at: STARTED_AT }),
      );
      const call = `${url}-${round}`;
      await given(reportCall(platform, call, { ...first, participants: people }));
      // Each participant leaves once, and the end is reported before, between and after that.
      const reported = await reportAllAtOnce(20, (api, n) => {
        const leaving = Math.floor(n / 2);
        if (n % 2 === round % 2) return reportCall(api, call, { ended_at: ENDED_AT });
        const [participant, left_at] = [people[leaving]?.key, leavingAt(leaving)];
        return isOwnReport
          ? api.put(`/waiting_rooms/${room.slug}/participants/${participant}`, { participant: { left_at } })
          : reportCall(api, call, { participants: [{ key: participant, left_at }] });
      });
      expect(reported).toHaveLength(20);
      expect((await given(reportCall(platform, call, {}))).ended_at).toBe(ENDED_AT);
      const participants = await storedRows(clinic, "participants");
      for (const [n, { key }] of people.entries())
        expect(participants.filter((each) => each.key === key)).toMatchObject([
          { left_at: Date.parse(leavingAt(n)) },
        ]);
    }
    expect(await storedRows(clinic, "participants")).toHaveLength(30);
  });
});

it("Thirty simultaneous PUT …/egresses/{egress_id} get one audit log entry each, which begins where the previous one ends", async () => {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  const { id, egress_id } = await call.addEgress({
    status: "egress_starting",
    is_stopped: false,
    ended_at: null,
  });
  const errors = numbers(30).map((n) => `Fault ${n}`);
  await reportAllAtOnce(30, (api, n) =>
    api.put(`/organizations/${clinic.id}/egresses/${egress_id}`, { egress: { error: errors[n] } }),
  );
  const path = `${call.path}/egresses/${id}/audit_logs?event=update&per_page=100`;
  const { audit_logs } = await given(clinic.client.get(path));
  const changes: { error: [unknown, unknown] }[] = audit_logs
    .sort((one: { id: number }, other: { id: number }) => one.id - other.id)
    .map(({ object_changes }: { object_changes: object }) => object_changes);
  expect(changes.map(({ error: [, after] }) => after).sort()).toEqual([...errors].sort());
  const afters = changes.map(({ error: [, after] }) => after);
  expect(changes.map(({ error: [before] }) => before)).toEqual([null, ...afters.slice(0, -1)]);
  const { egresses } = await given(clinic.client.get(`${call.path}/egresses`));
  expect(egresses).toMatchObject([{ error: afters.at(-1) }]);
});
