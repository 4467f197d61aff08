import { describe, expect, it } from "vitest";
import { entriesAbout } from "../support/access_logs.ts";
import { atOnce } from "../support/at_once.ts";
import { aCall, ENDED_AT } from "../support/calls.ts";
import { contradictionsIn } from "../support/contradictions.ts";
import { rowsOf } from "../support/database.ts";
import { aLiveKitRoom, delivered } from "../support/livekit.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { keyOf, planVisit } from "../support/visits.ts";

const COUNT = 10;

const NOTHING_LEFT = { held_count: 0, ongoing_count: 0, remaining_count: 0 };

describe(`${COUNT} requests of each kind about one person at once`, () => {
  it.each([true, false])(
    "leave one record, which can then be erased (call ended before: %s)",
    async (hasEnded) => {
      const clinic = await anOrganization();
      const other = await anOrganization();
      const reference = unique("patient");
      const rita = { role: "recipient", display_name: unique("Rita"), external_reference: reference };
      for (const each of [clinic, other])
        await planVisit(each, (await each.addRoom()).slug, { participants: [rita] });
      const theirs = await rowsOf(other.id);
      const room = await aLiveKitRoom(clinic);
      const visit = await planVisit(clinic, room.waitingRoom.slug, { participants: [rita] });
      const [planned] = visit.participants;
      const key = keyOf(visit);
      const ended_at = hasEnded ? ENDED_AT : null;
      const call = await aCall(clinic, { participants: [{ key }], ended_at });
      const [{ id }] = (await given(clinic.client.get(`${call.path}/participants`))).participants;
      const said = (n: number, kind: number) => ({
        display_name: `${rita.display_name}-${kind}-${n}`,
        external_reference: `${reference}-${kind}-${n}`,
      });
      const erase = (number = reference) =>
        clinic.client.delete(`/participants?external_reference=${number}&texts=true`);
      const numbers: string[] = [];
      const correct = async (n: number, kind: number, send: (fields: object) => ReturnType<typeof erase>) => {
        const fields = said(n, kind);
        const answer = await send(fields);
        if (answer.status === 200) numbers.push(fields.external_reference);
        return answer;
      };
      const ways: ((n: number) => Promise<{ status: number }>)[] = [
        () => erase(),
        (n) =>
          correct(n, 1, (fields) => {
            const participants = [{ id: planned?.id, ...fields }];
            return clinic.client.put(`/visits/${visit.id}`, { visit: { participants } });
          }),
        (n) =>
          correct(n, 2, (participant) =>
            clinic.client.put(`${call.path}/participants/${id}`, { participant }),
          ),
        (n) =>
          call.report({ participants: [{ key, ...said(n, 3) }], ended_at: n > 20 ? ENDED_AT : ended_at }),
        async (n) => {
          const { display_name: name, external_reference } = said(n, 4);
          const joined = room.joined(key, 1, { name, attributes: { external_reference } });
          await delivered([joined, room.left(key, 2, 1), room.finished(3)]);
          return { status: 200 };
        },
      ];
      const answers = await atOnce(COUNT * ways.length, (n) => ways[n % ways.length]?.(n));
      for (const answer of answers) expect([200, 422]).toContain(answer?.status);
      expect(await contradictionsIn(clinic)).toEqual([]);
      // Every number that a correction has set leads to the entries, and to the person.
      await given(call.report({ ended_at: ENDED_AT }));
      for (const number of [reference, ...numbers]) {
        const path = `/access_logs?per_page=100&external_reference=${number}`;
        const ofVisit = expect.objectContaining({ resource: "visit", resource_id: visit.id });
        expect((await given(clinic.client.get(path))).access_logs).toContainEqual(ofVisit);
      }
      for (const number of [reference, numbers.at(-1)])
        expect(await given(erase(number))).toMatchObject(NOTHING_LEFT);
      expect(await contradictionsIn(clinic)).toEqual([]);
      const stored = JSON.stringify(await rowsOf(clinic.id));
      for (const personal of [rita.display_name, reference, key]) expect(stored).not.toContain(personal);
      const erased = await entriesAbout(clinic, "delete", "participant");
      expect(new Set(erased.map(({ resource_id }) => resource_id)).size).toBe(erased.length);
      expect(await rowsOf(other.id)).toEqual(theirs);
    },
  );
});
