import { describe, expect, it } from "vitest";
import { entriesAbout } from "../support/access_logs.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, ENDED_AT } from "../support/calls.ts";
import { contradictionsIn } from "../support/contradictions.ts";
import { rowsOf } from "../support/database.ts";
import { aLiveKitRoom, delivered } from "../support/livekit.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { keyOf, planVisit } from "../support/visits.ts";

const COUNT = 10;

const WAYS = [
  "erase",
  "correct the visit",
  "correct the participant",
  "report the call",
  "report LiveKit's room",
] as const;

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
      const correct = async (n: number, kind: number, send: (fields: object) => ReturnType<typeof erase>) => {
        const fields = said(n, kind);
        return { ...(await send(fields)), number: fields.external_reference };
      };
      const answers = await atOnce(COUNT * WAYS.length, (n) => {
        switch (WAYS[n % WAYS.length]) {
          case "erase":
            return erase();
          case "correct the visit":
            return correct(n, 1, (fields) =>
              clinic.client.put(`/visits/${visit.id}`, {
                visit: { participants: [{ id: planned?.id, ...fields }] },
              }),
            );
          case "correct the participant":
            return correct(n, 2, (participant) =>
              clinic.client.put(`${call.path}/participants/${id}`, { participant }),
            );
          case "report the call":
            return call.report({
              participants: [{ key, ...said(n, 3) }],
              ended_at: n > 20 ? ENDED_AT : ended_at,
            });
          default: {
            const { display_name: name, external_reference } = said(n, 4);
            const attributes = { external_reference };
            return delivered([
              room.joined(key, 1, { name, attributes }),
              room.left(key, 2, 1),
              room.finished(3),
            ]).then(() => ({ status: 200 }));
          }
        }
      });
      expect(Object.keys(statusesOf(answers)).filter((status) => !["200", "422"].includes(status))).toEqual(
        [],
      );
      expect(await contradictionsIn(clinic)).toEqual([]);
      // Every number that a correction has set leads to the entries, and to the person.
      const numbers = answers.flatMap((answer) =>
        "number" in answer && answer.status === 200 ? [String(answer.number)] : [],
      );
      await given(call.report({ ended_at: ENDED_AT }));
      for (const number of [reference, ...numbers]) {
        const { access_logs } = await given(
          clinic.client.get(`/access_logs?per_page=100&external_reference=${number}`),
        );
        expect(access_logs).toContainEqual(
          expect.objectContaining({ resource: "visit", resource_id: visit.id }),
        );
      }
      for (const number of [reference, numbers.at(-1)])
        expect(await given(erase(number))).toMatchObject({
          held_count: 0,
          ongoing_count: 0,
          remaining_count: 0,
        });
      expect(await contradictionsIn(clinic)).toEqual([]);
      const stored = JSON.stringify(await rowsOf(clinic.id));
      for (const personal of [rita.display_name, reference, key]) expect(stored).not.toContain(personal);
      const erased = (await entriesAbout(clinic, "delete", "participant")).map(
        ({ resource_id }) => resource_id,
      );
      expect(new Set(erased).size).toBe(erased.length);
      expect(await rowsOf(other.id)).toEqual(theirs);
    },
  );
});
