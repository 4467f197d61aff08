import fc from "fast-check";
import { DAY, HOUR, MINUTE } from "../../src/units.ts";
import type { Programs } from "../simulator/isolate.ts";
import { publishedKeys } from "../simulator/sign_in.ts";
import { platformHeaders, World } from "../simulator/world.ts";
import { type Model, type Room, timestamp } from "./model.ts";
import type { Operation } from "./operation.ts";
import { RECEIVER } from "./operations/delivery.ts";
import { OPERATIONS, THEMES } from "./operations.ts";
import { documentOf, prepare, type Step } from "./requests.ts";
import { DIFFER, Story } from "./story.ts";

export class Command implements fc.AsyncCommand<Model, Story> {
  readonly step: Step;
  #said = "";

  constructor(step: Step) {
    this.step = step;
  }

  check = () => true;

  async run(_: Model, story: Story): Promise<void> {
    story.world.schedule.now += this.step.wait;
    const prepared = prepare(story, this.step);
    const { sent } = prepared;
    const who = prepared.request.caller;
    const waits = this.step.wait === 0 ? "" : `${this.step.wait / MINUTE} minutes later: `;
    this.#said = `${waits}${sent.method} ${sent.path} ${sent.body ?? ""}${who ? ` (as ${who.member.roles})` : ""}`;
    await story.play(this.step.operation, prepared);
  }

  toString = () => `\n${this.#said || JSON.stringify(this.step)}`;
}

/** Plays a request that the story itself sends, to begin with. */
async function begin(story: Story, name: string, path: Record<string, number | string>, body: object) {
  const { api, method, path: pattern } = documentOf(name);
  const filled = pattern.replace(/\{(\w+)\}/g, (_, each: string) => String(path[each]));
  const sent = { method, path: `/api/${api}${filled}`, headers: platformHeaders, body: JSON.stringify(body) };
  const read = (OPERATIONS[name] as Operation).body?.read(body as never);
  const given = Object.fromEntries(Object.entries(path).map(([each, id]) => [each, String(id)]));
  return (
    await story.play(name, { sent, request: { path: given, query: {} as never, body: read, sent: body } })
  ).body as { id: number };
}

/** The beginning of many stories: a call that has ended, with a recording to which everybody has consented. */
async function endCall(story: Story): Promise<void> {
  const { rooms, now } = story.model;
  const { slug, owner, organization } = rooms[0] as Room;
  const path = { organization_id: organization.id, key: "c1", egress_id: "e1" };
  const participants = ["p1", "p2"].map((key) => ({
    key,
    role: "recipient",
    display_name: key,
    recording_consent: true,
  }));
  const times = { started_at: timestamp(now - HOUR), ended_at: timestamp(now) };
  const call = { waiting_room_slug: slug, organization_user_id: owner?.id, ...times, participants };
  await begin(story, "platform PUT /organizations/{organization_id}/calls/{key}", path, { call });
  const egress = { call_key: "c1", status: "egress_ended" };
  await begin(story, "platform PUT /organizations/{organization_id}/egresses/{egress_id}", path, { egress });
}

export async function openStory(world: World): Promise<Story> {
  const story = new Story(world);
  world.receivers.set("https://idp.example.com/jwks", publishedKeys);
  world.receivers.set(RECEIVER, () => new Response(null, { status: 204 }));
  for (const name of ["Riverside", "Hillside"]) {
    const { id: organization_id } = await begin(
      story,
      "platform POST /organizations",
      {},
      { organization: { name } },
    );
    const users: [string, string[], string[] | null][] = [
      ["Ada", ["organization_admin"], null],
      ...(name === "Riverside"
        ? ([
            ["Paula", ["provider"], null],
            ["Sam", ["provider"], null],
            ["Asa", ["provider_assistant"], null],
            ["Lou", ["organization_admin"], ["rooms:read", "members:write", "organization:write"]],
          ] as [string, string[], string[] | null][])
        : ([["Hal", ["provider"], null]] as [string, string[], string[] | null][])),
    ];
    const providers: number[] = [];
    for (const [who, roles, scopes] of users) {
      const user = {
        email: `${who}@${name}.example`,
        display_name: who,
        roles,
        ...(who === "Asa" ? { assists: providers.slice(0, 1) } : {}),
      };
      const { id } = await begin(
        story,
        "platform POST /organizations/{organization_id}/users",
        { organization_id },
        { user },
      );
      if (roles.includes("provider")) providers.push(id);
      const api_client = { name: who, organization_user_id: id, scopes };
      if (who !== "Hal")
        await begin(
          story,
          "platform POST /organizations/{organization_id}/api_clients",
          { organization_id },
          { api_client },
        );
    }
  }
  await endCall(story);
  return story;
}

const step = (operations: string[]) =>
  fc
    .record({
      operation: fc.constantFrom(...operations.flatMap((name) => Array<string>(weightOf(name)).fill(name))),
      caller: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 11 })),
      hasFaults: fc.nat({ max: 3 }).map((each) => each === 3),
      wait: fc.oneof(
        { weight: 20, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.constantFrom(MINUTE, HOUR, 8 * DAY) },
      ),
      number: fc.noShrink(fc.nat()),
    })
    .map((each) => new Command(each));

/** Operations that create something come more often, so that the others find it. */
const weightOf = (name: string) => (/ POST | PUT .*\{key\}$| PUT .*egresses/.test(name) ? 3 : 1);

/** Most stories are about one subject, so that they get further in it. */
const stories = fc.oneof(
  ...THEMES.map((operations) =>
    fc.commands([step(Object.keys(operations))], { maxCommands: 60, size: "max" }),
  ),
);

/** A story that differs, and how to play it again. */
export interface Failure {
  seed: number;
  path: string;
  story: string;
  difference: string;
}

export interface Played {
  stories: number;
  requests: number;
  /** The number of answers, by operation and what was answered. */
  answers: Map<string, Map<string, number>>;
  failure: Failure | undefined;
}

/** Stories that share a world: a new one takes time, and a full one is slow. */
const STORIES_PER_WORLD = 200;

/** Plays random stories until one differs, and shortens it unless `isShortened` is false. */
export async function playStories(
  programs: Programs,
  count: number,
  { seed, path, isShortened = true }: { seed: number; path?: string | undefined; isShortened?: boolean },
): Promise<Played> {
  const played: Played = { stories: 0, requests: 0, answers: new Map(), failure: undefined };
  let world = new World(1, programs, 1);
  const property = fc.asyncProperty(stories, async (commands) => {
    if (++played.stories % STORIES_PER_WORLD === 0) world = new World(1, programs, 1);
    const story = await openStory(world);
    story.answers = played.answers;
    await fc.asyncModelRun(() => ({ model: story.model, real: story }), commands);
    played.requests += [...commands].length;
  });
  const details = await fc.check(property, {
    ...{ numRuns: count, seed, endOnFailure: !isShortened },
    ...(path ? { path } : {}),
  });
  if (details.failed) {
    const { message, stack } = details.errorInstance as Error;
    const isDifference = message.startsWith(DIFFER);
    played.failure = {
      seed,
      path: details.counterexamplePath ?? "",
      story: String(details.counterexample),
      difference: isDifference ? message : String(stack),
    };
  }
  return played;
}
