import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { entriesAbout } from "../support/access_logs.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, ENDED_AT } from "../support/calls.ts";
import { rowsOf } from "../support/database.ts";
import { aLiveKitRoom, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { keyOf, planVisit } from "../support/visits.ts";

const COUNT = 10;

/** Rows of an organization that contradict the record of a person. */
async function contradictionsIn({ id }: Organization) {
  const { results } = await env.DB.prepare(
    `select 'a copied digest' as wrong from participants join people on people.id = person_id
     where people.organization_id = ?1 and participants.reference_digest is not people.reference_digest
     union all select 'a time' from people join computed_person_times on person_id = people.id
     where organization_id = ?1
       and (people.over_at is not computed_person_times.over_at or people.visit_starts_at is not computed_person_times.visit_starts_at)
     union all select 'an erased name' from people
     where organization_id = ?1 and erased_at is not null and (display_name <> 'Participant' or external_reference is not null)
     union all select 'a name without its digest' from people
     where organization_id = ?1 and (external_reference is null) <> (reference_digest is null)`,
  )
    .bind(id)
    .all();
  return results;
}

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
        (n) => {
          const participants = [{ key, ...said(n, 3) }];
          return call.report({ participants, ended_at: n > 20 ? ENDED_AT : ended_at });
        },
        async (n) => {
          const { display_name: name, external_reference } = said(n, 4);
          const joined = room.joined(key, 1, { name, attributes: { external_reference } });
          await delivered([joined, room.left(key, 2, 1), room.finished(3)]);
          return { status: 200 };
        },
      ];
      const answers = await atOnce(COUNT * ways.length, async (n) => ways[n % ways.length]?.(n) ?? erase());
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
