import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, reportCall, reportEgress, STARTED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

describe("Resources that the body of a report names", () => {
  const report = async () => {
    const [ours, theirs] = [await anOrganization(), await anOrganization()];
    const [own, foreign] = [await aCall(ours), await aCall(theirs)];
    return { ours, theirs, own, foreign };
  };

  it("must belong to the organization in the path: the room, the owner and the participants of a call", async () => {
    const { ours, own, foreign } = await report();
    const first = {
      waiting_room_slug: own.room.slug,
      organization_user_id: own.owner.id,
      started_at: STARTED_AT,
    };
    for (const wrong of [
      { waiting_room_slug: foreign.room.slug },
      { organization_user_id: foreign.owner.id },
      { participants: [{ key: "p", display_name: "P", role: "provider", user_id: foreign.owner.id }] },
    ])
      for (const key of [unique("call"), own.key])
        if (key !== own.key || !("waiting_room_slug" in wrong))
          expectRefusal(
            await changingNothing(() => reportCall(ours, key, { ...first, ...wrong })),
            422,
            /of the organization/,
          );
  });

  it("must belong to the organization in the path: the call, the user and the file of a recording", async () => {
    const { ours, theirs, own, foreign } = await report();
    const first = { call_key: own.key, status: "egress_ended" };
    const known = (await own.addEgress()).egress_id as string;
    for (const wrong of [
      { call_key: foreign.key },
      { user_id: foreign.owner.id },
      { storage_key: `${theirs.slug}/visit.wav` },
      { storage_key: `${ours.slug}-2/visit.wav` },
      { storage_key: ours.slug },
    ])
      for (const egress_id of [unique("egress"), known])
        expectRefusal(
          await changingNothing(() => reportEgress(ours, egress_id, { ...first, ...wrong })),
          422,
          /^egress\./,
        );
  });

  it("must belong to the organization of the room in the path: a waiting user", async () => {
    const { own, foreign } = await report();
    const participant = {
      display_name: "Paula Provider",
      role: "provider",
      waiting_since: STARTED_AT,
      user_id: foreign.owner.id,
    };
    const path = `/waiting_rooms/${own.room.slug}/participants/${unique("participant")}`;
    expectRefusal(
      await changingNothing(() => platform.put(path, { participant })),
      422,
      /user of the organization/,
    );
  });
});

it("The same keys in two organizations name separate calls, recordings and participants, which do not affect each other", async () => {
  const [one, other] = [await anOrganization(), await anOrganization()];
  const [key, egress_id, participant] = [unique("call"), unique("egress"), unique("participant")];
  const made = [];
  for (const organization of [one, other]) {
    const [room, owner] = [await organization.addRoom(), await organization.addProvider()];
    const waiting = await organization.addParticipant(room.slug, {}, participant);
    const call = { waiting_room_slug: room.slug, organization_user_id: owner.id, started_at: STARTED_AT };
    const { id } = await given(reportCall(organization, key, { ...call, ended_at: STARTED_AT }));
    const storage_key = `${organization.slug}/visit.wav`;
    const egress = { call_key: key, status: "egress_ended", storage_key };
    const recorded = await given(reportEgress(organization, egress_id, egress));
    made.push({ call: id, egress: recorded.id, participant: waiting.id, room });
  }
  for (const what of ["call", "egress", "participant"] as const)
    expect(new Set(made.map((each) => each[what])).size).toBe(2);
  const left = { participant: { left_at: new Date().toISOString() } };
  await given(platform.put(`/waiting_rooms/${made[0]?.room.slug}/participants/${participant}`, left));
  const { participants } = await given(other.client.get(`/waiting_rooms/${made[1]?.room.slug}/participants`));
  expect(participants).toHaveLength(1);
  await given(one.platform.put(`/calls/${key}/soap_note`, { soap_note: { text: "Ours.", is_final: true } }));
  await given(one.platform.put(`/calls/${key}/legal_hold`, { legal_hold: { reason: "Ours" } }));
  expect((await given(other.platform.get(`/calls/${key}`))).legal_hold).toBeNull();
  await given(other.platform.delete(`/egresses/${egress_id}`));
  expectRefusal(await one.platform.delete(`/egresses/${egress_id}`), 422, /legal hold/);
  expect((await given(one.platform.get(`/calls/${key}`))).legal_hold).not.toBeNull();
});
