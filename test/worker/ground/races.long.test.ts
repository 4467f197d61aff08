import { expect, it } from "vitest";
import { type Answer, type Api, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, STARTED_AT } from "../support/calls.ts";
import { countingRoundTrips, storedRows } from "../support/database.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
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

it("Thirty simultaneous POST /organizations with one name create all, with different slugs", async () => {
  const name = unique("clinic");
  const answers = await atOnce(30, () => platform.post("/organizations", { organization: { name } }));
  expect(statusesOf(answers)).toEqual({ 201: 30 });
  const slugs = numbers(30).map((n) => (n === 0 ? name : `${name}-${n + 1}`));
  expect(answers.map(({ body }) => body.slug).sort()).toEqual(slugs.sort());
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
        : api.put(`/organizations/${clinic.id}/calls/${unique("call")}`, {
            call: { waiting_room_slug: slug, organization_user_id: provider.id, started_at: STARTED_AT },
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

it("Thirty simultaneous PUT …/egresses/{egress_id} get one audit log entry each, which begins where the previous one ends", async () => {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  const starting = { status: "egress_starting", is_stopped: false, ended_at: null };
  const { id, egress_id } = await call.addEgress(starting);
  const errors = numbers(30).map((n) => `Fault ${n}`);
  const answers = await reportAtOnce(30, (api, n) =>
    api.put(`/organizations/${clinic.id}/egresses/${egress_id}`, { egress: { error: errors[n] } }),
  );
  expect(statusesOf(answers)).toEqual({ 200: 30 });
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
