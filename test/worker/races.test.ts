import { describe, expect, it } from "vitest";
import { aCall, reportEgress } from "./support/calls.ts";
import { platform } from "./support/door.ts";
import { anOrganization, given, unique } from "./support/organization.ts";

const atOnce = <T>(work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 30 }, (_, n) => work(n)));

const count = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

describe("Thirty requests at once", () => {
  it("for overlapping subs: one wins, and the others get the error that the times overlap", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const provider = await clinic.addProvider();
    const answers = await atOnce((n) =>
      clinic.client.post(`/waiting_rooms/${room.slug}/waiting_room_subs`, {
        waiting_room_sub: {
          user_id: provider.user_id,
          datetime_start: `2126-01-31T09:${String(n).padStart(2, "0")}:00Z`,
          datetime_end: "2126-01-31T11:00:00Z",
        },
      }),
    );
    const statuses = answers.map(({ status }) => status);
    expect([count(statuses, 201), count(statuses, 422)]).toEqual([1, 29]);
    const listed = await clinic.client.get(`/waiting_rooms/${room.slug}/waiting_room_subs`);
    expect(listed.body.waiting_room_subs).toHaveLength(1);
  });

  it("to move different subs to the same time: one wins", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const provider = await clinic.addProvider();
    const subs: { id: number }[] = [];
    for (let day = 1; day <= 30; day++)
      subs.push(
        await clinic.addSub(room.slug, {
          user_id: provider.user_id,
          datetime_start: `2126-03-${String(day).padStart(2, "0")}T09:00:00Z`,
          datetime_end: `2126-03-${String(day).padStart(2, "0")}T10:00:00Z`,
        }),
      );
    const answers = await atOnce((n) =>
      clinic.client.put(`/waiting_rooms/${room.slug}/waiting_room_subs/${subs[n]?.id}`, {
        waiting_room_sub: { datetime_start: "2126-01-31T09:00:00Z", datetime_end: "2126-01-31T10:00:00Z" },
      }),
    );
    const statuses = answers.map(({ status }) => status);
    expect([count(statuses, 200), count(statuses, 422)]).toEqual([1, 29]);
  });

  it("for rooms with the same name: all are created, and all slugs differ", async () => {
    const clinic = await anOrganization();
    const answers = await atOnce(() =>
      clinic.client.post("/waiting_rooms", { waiting_room: { name: "Cardiology" } }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201));
    expect(new Set(answers.map(({ body }) => body.slug)).size).toBe(30);
  });

  it("to rename rooms to one name: all are renamed, and all slugs differ", async () => {
    const clinic = await anOrganization();
    const rooms = await Promise.all(
      Array.from({ length: 30 }, (_, n) => clinic.addRoom({ name: `Room ${n}` })),
    );
    const answers = await atOnce((n) =>
      clinic.client.put(`/waiting_rooms/${rooms[n]?.slug}`, { waiting_room: { name: "Oncology" } }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(new Set(answers.map(({ body }) => body.slug)).size).toBe(30);
  });

  it("to retire a room while participants enter it: never both", async () => {
    const clinic = await anOrganization();
    for (let round = 0; round < 5; round++) {
      const room = await clinic.addRoom({ name: unique("room") });
      const answers = await atOnce((n) =>
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
      const statuses = answers.map(({ status }) => status);
      const [retired, entered] = [count(statuses, 204), count(statuses, 200)];
      expect([
        [1, 0],
        [0, 15],
      ]).toContainEqual([retired, entered]);
    }
  });

  it("for one slug of an organization: one gets it", async () => {
    const slug = unique("org");
    const answers = await atOnce(() =>
      platform.post("/organizations", { organization: { name: "Clinic", slug } }),
    );
    const statuses = answers.map(({ status }) => status);
    expect([count(statuses, 201), count(statuses, 422)]).toEqual([1, 29]);
  });

  it("to add one person to an organization: one membership and one personal room are created", async () => {
    const clinic = await anOrganization();
    const user = { email: `${unique("user")}@example.com`, display_name: "Paul", roles: ["provider"] };
    const answers = await atOnce(() => platform.post(`/organizations/${clinic.id}/users`, { user }));
    const statuses = answers.map(({ status }) => status);
    expect([count(statuses, 201), count(statuses, 422)]).toEqual([1, 29]);
    const rooms = await clinic.client.get("/waiting_rooms");
    expect(rooms.body.waiting_rooms.filter(({ name }: { name: string }) => name === "Paul")).toHaveLength(1);
  });

  it("to report an egress, each with another error: each is written on the one before", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const egress_id = unique("egress");
    const answers = await atOnce((n) =>
      reportEgress(egress_id, { call_key: call.key, status: "egress_ended", error: `Error ${n}.` }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const { audit_logs } = await given(
      clinic.client.get(`${call.path}/egresses/${answers[0]?.body.id}/audit_logs?per_page=100`),
    );
    const errors: [string | null, string][] = audit_logs
      .sort((a: { id: number }, b: { id: number }) => a.id - b.id)
      .map((entry: { object_changes: { error: [string | null, string] } }) => entry.object_changes.error);
    expect(errors.map(([before]) => before)).toEqual(
      [null, ...errors.map(([, after]) => after)].slice(0, -1),
    );
    expect(new Set(errors.map(([, after]) => after)).size).toBe(30);
  });

  it("to report the parts of a SOAP note: no part is lost, and final it changes no more", async () => {
    const call = await aCall(await anOrganization());
    await given(call.reportSoapNote({ text: "A draft.", is_final: false }));
    const answers = await atOnce((n) =>
      call.reportSoapNote(n % 2 ? { text: "The note." } : { is_final: true }),
    );
    const { body } = await call.reportSoapNote({});
    const wereFinal = answers.filter((answer) => answer.body.is_final).map((answer) => answer.body.text);
    expect(new Set(wereFinal)).toEqual(new Set([body.text]));
    expect(body.is_final).toBe(true);
  });

  it("to report a transcript, each with other lines: it has the lines of one of them", async () => {
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
    const answers = await atOnce((n) => call.reportTranscript({ is_final: false, lines: linesOf(n) }));
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
