import { Room } from "@livekit/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { reportCall } from "../support/calls.ts";
import { aLiveKitRoom, at, EgressStatus, liveKit } from "../support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";

/** Names and ids that rooms of two organizations may share, on one media server or on two. */
interface SharedNames {
  sid: string;
  visit: string;
  egress: string;
  people: string[];
}

type LiveKitRoom = Awaited<ReturnType<typeof aLiveKitRoom>>;

interface Party extends SharedNames {
  organization: Organization;
  room: LiveKitRoom;
}

interface Step {
  what: keyof typeof STEPS;
  person: number;
  second: number;
}

/** Events of a room, and attempts to reach another organization with them. */
const STEPS = {
  started: ({ room }: Party) => room.started(),
  joined: ({ room, people, organization }: Party, _: Party, { person, second }: Step) =>
    room.joined(people[person] ?? "", second, {
      name: `Rita of ${organization.slug}`,
      attributes: { recording_consent: "true" },
    }),
  left: ({ room, people }: Party, _: Party, { person, second }: Step) =>
    room.left(people[person] ?? "", second, 0),
  finished: ({ room }: Party, _: Party, { second }: Step) => room.finished(second),
  egress_started: ({ room, egress }: Party) => room.egress(egress, EgressStatus.EGRESS_STARTING),
  egress_ended: ({ room, egress, organization }: Party, _: Party, { person, second }: Step) =>
    room.recorded(egress, second, `${organization.slug}/visit-${person}.mp4`),
  egress_with_their_file: ({ room, egress }: Party, theirs: Party, { person, second }: Step) =>
    room.recorded(egress, second, `${theirs.organization.slug}/visit-${person}.mp4`),
  room_with_their_metadata: ({ room, sid }: Party, theirs: Party, { second }: Step) => {
    const { waitingRoom, owner } = theirs.room;
    const metadata = JSON.stringify({ waiting_room_slug: waitingRoom.slug, organization_user_id: owner.id });
    return room.event("room_started", second, { room: new Room({ sid, name: room.name, metadata }) });
  },
  room_with_their_holder: ({ room, sid }: Party, theirs: Party, { second }: Step) => {
    const ids = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: theirs.room.owner.id };
    const metadata = JSON.stringify(ids);
    return room.event("room_started", second, { room: new Room({ sid, name: room.name, metadata }) });
  },
} satisfies Record<string, (ours: Party, theirs: Party, step: Step) => string>;

async function aParty(names: SharedNames): Promise<Party> {
  const organization = await anOrganization();
  const name = `${organization.slug}--${names.visit}`;
  return { ...names, organization, room: await aLiveKitRoom(organization, { sid: names.sid, name }) };
}

async function play(ours: Party, theirs: Party, steps: Step[], isReported: boolean) {
  // The platform may have reported the call too.
  if (isReported)
    await given(
      reportCall(ours.organization, ours.sid, {
        waiting_room_slug: ours.room.waitingRoom.slug,
        organization_user_id: ours.room.owner.id,
        started_at: at(0),
      }),
    );
  for (const step of steps) {
    const { status } = await liveKit.send(STEPS[step.what](ours, theirs, step));
    expect(status).toBe(200);
  }
}

/** Fields that the database assigns, and that therefore differ between organizations. */
const GIVEN = /^(?!egress_id$)(.*_)?id$|^(created|updated)_at$/;

/** Everything that an organization reads about its calls, without ids. */
async function viewOf({ organization: { client, slug }, room }: Party): Promise<string> {
  const calls = `/organization_users/${room.owner.id}/calls`;
  const shown: unknown[] = [];
  const readAll = async (path: string, name: string) => {
    const rows: { id: number }[] = (await given(client.get(path)))[name];
    shown.push(rows);
    return rows.map(({ id }) => `${path}/${id}`);
  };
  for (const call of await readAll(calls, "calls")) {
    await readAll(`${call}/participants`, "participants");
    for (const egress of await readAll(`${call}/egresses`, "egresses")) {
      const { url } = await given(client.get(egress));
      shown.push(url && new URL(url).pathname);
    }
  }
  const withoutIds = (name: string, value: unknown) => (GIVEN.test(name) ? undefined : value);
  return JSON.stringify(shown, withoutIds, 1).replaceAll(slug, "OUR-SLUG");
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
    person: fc.nat({ max: 1 }),
    second: fc.nat({ max: 500 }),
  }),
  { minLength: 3, maxLength: 10 },
);

it("LiveKit rooms of two organizations do not affect each other, even with the same sid, name, people, recordings and files", {
  timeout: 240_000,
}, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(steps, steps, fc.boolean(), fc.boolean(), async (first, second, ...isReported) => {
      const names = {
        sid: unique("RM").replaceAll("-", "_"),
        visit: unique("visit"),
        egress: unique("EG").replaceAll("-", "_"),
        people: [unique("rita"), unique("remy")],
      };
      const [one, other] = [await aParty(names), await aParty(names)];
      // At the same time, so that the events of both rooms interleave.
      await Promise.all([play(one, other, first, isReported[0]), play(other, one, second, isReported[1])]);
      const [alone, stranger] = [await aParty(names), await aParty(names)];
      await play(alone, stranger, first, isReported[0]);
      const expected = await viewOf(alone);
      expect(await viewOf(one)).toBe(
        expected.replaceAll(stranger.organization.slug, other.organization.slug),
      );
      expect(await viewOf(one)).not.toContain(other.organization.slug);
      for (const word of ["OUR-SLUG/visit", "egress_ended", "Rita of OUR-SLUG"])
        if (expected.includes(word)) seen.add(word);
    }),
    { numRuns: 20 },
  );
  // Some of the runs must have had participants.
  expect(seen).toContain("Rita of OUR-SLUG");
});
