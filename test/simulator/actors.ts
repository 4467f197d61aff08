import type { Call, Clinic, Person } from "./clinic.ts";
import { playRoom } from "./livekit.ts";
import { moveAround } from "./operator.ts";
import { exchangeToken } from "./sign_in.ts";
import type { Size } from "./simulation.ts";
import type { Odds, World } from "./world.ts";

type Act = (clinic: Clinic) => Promise<unknown>;

const room = (clinic: Clinic, more: object = {}) => ({
  waiting_room: { name: clinic.unique("Room"), is_active: true, ...more },
});

/** Sends a POST, and remembers that no two rows may have this name. */
async function make(clinic: Clinic, path: string, name: string, body: object) {
  clinic.made.set(name, false);
  const outcome = await clinic.client("POST", path, body, true);
  if (outcome?.status === 201) clinic.made.set(name, true);
  return outcome;
}

const pick = <Item>(clinic: Clinic, items: readonly Item[]): Item | undefined =>
  items.length > 0 ? clinic.world.chance.pick(items) : undefined;

const resultsOf = (call: Call) => `/organization_users/${call.owner.id}/calls/${call.id}`;

const aKnownCall = (clinic: Clinic) =>
  pick(
    clinic,
    clinic.calls.filter(({ id }) => id !== undefined),
  );

/** The results of a call are shown once it has ended. */
const anEndedCall = (clinic: Clinic) =>
  pick(
    clinic,
    clinic.calls.filter(({ id, isEnded }) => id !== undefined && isEnded),
  );

async function read(clinic: Clinic, text: "transcript" | "soap_note") {
  const call = anEndedCall(clinic);
  if (!call) return;
  const outcome = await clinic.client("GET", `${resultsOf(call)}/${text}`);
  if (outcome?.status !== 200) return;
  clinic.shown.add(`${text} ${call.id}`);
  const deletedAt = call.deletedAt[text];
  if (deletedAt !== undefined && outcome.sentAt > deletedAt)
    clinic.world.violation(`The ${text} of ${call.key} came back after it was deleted`);
}

async function deleteText(clinic: Clinic, text: "transcript" | "soap_note") {
  // Deleting a text that was never reported does not prevent its first report.
  const call = pick(
    clinic,
    clinic.calls.filter(({ isEnded, reported }) => isEnded && reported.has(text)),
  );
  if (!call || clinic.world.chance.is(0.6)) return;
  const outcome = await clinic.client("DELETE", `${resultsOf(call)}/${text}`);
  if (outcome?.status === 204) call.deletedAt[text] = clinic.world.schedule.steps;
}

/** The acts of an organization's own systems. */
export const organizationActs: Record<string, Act> = {
  async "creates a room"(clinic) {
    const body = room(clinic);
    const outcome = await make(clinic, "/waiting_rooms", body.waiting_room.name, body);
    if (outcome?.status === 201) clinic.rooms.push(outcome.body.slug);
  },
  async "changes a room"(clinic) {
    const slug = pick(clinic, clinic.rooms);
    if (slug)
      await clinic.client("PUT", `/waiting_rooms/${slug}`, {
        waiting_room: { is_active: clinic.world.chance.is(0.8) },
      });
  },
  async "retires a room"(clinic) {
    if (clinic.rooms.length > 3) await clinic.client("DELETE", `/waiting_rooms/${clinic.rooms.shift()}`);
  },
  async "adds a sub"(clinic) {
    const { chance } = clinic.world;
    const provider = chance.pick(clinic.providers);
    const slug = pick(clinic, [...clinic.rooms, ...clinic.providers.map((each) => each.waiting_room_slug)]);
    const begin = chance.below(4);
    const waiting_room_sub = {
      user_id: provider.user_id,
      datetime_start: `2027-01-01T${10 + begin}:00:00Z`,
      datetime_end: `2027-01-01T${11 + begin + chance.below(2)}:00:00Z`,
    };
    const path = `/waiting_rooms/${slug}/waiting_room_subs`;
    const outcome = await clinic.client("POST", path, { waiting_room_sub }, true);
    if (outcome?.status === 201) clinic.subs.push({ slug: slug ?? "", id: outcome.body.id });
  },
  async "moves or deletes a sub"(clinic) {
    const { chance } = clinic.world;
    const sub = pick(clinic, clinic.subs);
    if (!sub) return;
    const path = `/waiting_rooms/${sub.slug}/waiting_room_subs/${sub.id}`;
    const datetime_end = `2027-01-01T${20 + chance.below(4)}:30:00Z`;
    if (chance.is(0.7)) await clinic.client("PUT", path, { waiting_room_sub: { datetime_end } });
    else await clinic.client("DELETE", path);
  },
  async "plans a visit"(clinic) {
    const patient = pick(
      clinic,
      clinic.patients.filter(({ isLeaving }) => !isLeaving),
    );
    const slug = pick(clinic, clinic.rooms);
    if (!patient || !slug) return;
    const { display_name, external_reference } = patient;
    const name = clinic.unique("visit").replaceAll(" ", "-");
    const visit = {
      waiting_room_slug: slug,
      starts_at: clinic.ahead(60 + clinic.world.chance.below(600)),
      external_reference: name,
      participants: [{ role: "recipient", display_name, external_reference }],
    };
    const outcome = await clinic.naming(patient, () => make(clinic, "/visits", name, { visit }));
    if (outcome?.status === 201) clinic.visits.push({ id: outcome.body.id, patient });
  },
  async "cancels or moves a visit"(clinic) {
    const visit = pick(clinic, clinic.visits);
    if (!visit) return;
    if (clinic.world.chance.is(0.3)) await clinic.client("DELETE", `/visits/${visit.id}`);
    else await clinic.client("PUT", `/visits/${visit.id}`, { visit: { starts_at: clinic.ahead(120) } });
  },
  async "invites somebody"(clinic) {
    const email = `${clinic.unique("ivy").replaceAll(" ", "-")}@example.com`;
    const organization_invite = { email, display_name: clinic.unique("Ivy"), role_names: ["provider"] };
    const outcome = await make(clinic, "/invites", email, { organization_invite });
    if (outcome?.status === 201) clinic.invites.push(outcome.body.id);
  },
  async "invites many"(clinic) {
    const organization_invites = Array.from({ length: 3 }, () => {
      const email = `${clinic.unique("bea").replaceAll(" ", "-")}@example.com`;
      clinic.made.set(email, false);
      return { email, display_name: clinic.unique("Bea"), role_names: ["provider"] };
    });
    const outcome = await clinic.client("POST", "/invites/bulk_create", { organization_invites }, true);
    if (outcome?.status === 201) for (const { email } of organization_invites) clinic.made.set(email, true);
  },
  async "takes an invite back"(clinic) {
    const id = clinic.invites.shift();
    if (id) await clinic.client("DELETE", `/invites/${id}`);
  },
  async "adds a webhook endpoint"(clinic) {
    if (clinic.endpoints.length > 2) return;
    const endpoint = {
      id: 0,
      url: `https://${clinic.unique("hooks").replaceAll(" ", "-").toLowerCase()}.example.com/`,
      received: [] as number[],
    };
    clinic.world.receivers.set(endpoint.url, ({ id, test }) => {
      if (!test) endpoint.received.push(Number(id));
      return new Response(null, { status: clinic.world.chance.is(clinic.world.odds.faults) ? 500 : 204 });
    });
    const outcome = await clinic.client("POST", "/webhook_endpoints", {
      webhook_endpoint: { url: endpoint.url },
    });
    if (outcome?.status === 201) clinic.endpoints.push({ ...endpoint, id: outcome.body.id });
  },
  async "switches an endpoint"(clinic) {
    const endpoint = pick(clinic, clinic.endpoints);
    if (!endpoint) return;
    for (const is_active of [false, true])
      await clinic.client("PUT", `/webhook_endpoints/${endpoint.id}`, { webhook_endpoint: { is_active } });
  },
  async "holds a call"(clinic) {
    const call = anEndedCall(clinic);
    if (!call) return;
    await clinic.client("PUT", `${resultsOf(call)}/legal_hold`, { legal_hold: { reason: "Case 1" } });
    await clinic.client("DELETE", `${resultsOf(call)}/legal_hold`);
  },
  "reads a transcript": (clinic) => read(clinic, "transcript"),
  "reads a SOAP note": (clinic) => read(clinic, "soap_note"),
  "deletes a transcript": (clinic) => deleteText(clinic, "transcript"),
  "deletes a SOAP note": (clinic) => deleteText(clinic, "soap_note"),
  async "corrects a SOAP note"(clinic) {
    const call = anEndedCall(clinic);
    const soap_note = { text: clinic.unique("Plan"), reason: "Misheard" };
    if (call) await clinic.client("PUT", `${resultsOf(call)}/soap_note`, { soap_note });
  },
  async "asks for recordings"(clinic) {
    const call = anEndedCall(clinic);
    if (!call) return;
    const list = await clinic.client("GET", `${resultsOf(call)}/egresses`);
    for (const { id } of list?.body.egresses ?? []) {
      const outcome = await clinic.client("GET", `${resultsOf(call)}/egresses/${id}`);
      if (outcome?.status !== 200) continue;
      clinic.shown.add(`egress ${call.id}`);
      if (outcome.body.url && call.refusedAt !== undefined && outcome.sentAt > call.refusedAt)
        clinic.world.violation(`A recording of the call ${call.key} was offered after a refusal`);
    }
  },
  async "reads lists"(clinic) {
    for (const path of [
      "/waiting_rooms",
      "/visits",
      "/calls",
      "/invites",
      "/organization_users",
      "/access_logs",
    ])
      await clinic.client("GET", path);
  },
  async "reads its metrics"(clinic) {
    await clinic.client("GET", "/call_metrics");
    await clinic.client("GET", "/usage");
  },
  async "looks for another organization's things"(clinic) {
    const call = pick(
      clinic,
      clinic.neighbour.calls.filter(({ id }) => id !== undefined),
    );
    const [slug, visit] = [pick(clinic, clinic.neighbour.rooms), pick(clinic, clinic.neighbour.visits)];
    const [sub, invite] = [pick(clinic, clinic.neighbour.subs), pick(clinic, clinic.neighbour.invites)];
    const endpoint = pick(clinic, clinic.neighbour.endpoints);
    for (const path of [
      ...(call ? [resultsOf(call), `${resultsOf(call)}/transcript`, `${resultsOf(call)}/egresses`] : []),
      ...(slug ? [`/waiting_rooms/${slug}`, `/waiting_rooms/${slug}/waiting_room_subs`] : []),
      ...(visit ? [`/visits/${visit.id}`] : []),
      ...(invite ? [`/invites/${invite}`] : []),
      ...(endpoint ? [`/webhook_endpoints/${endpoint.id}`] : []),
    ]) {
      const outcome = await clinic.client("GET", path);
      if (outcome && ![403, 404, 429].includes(outcome.status))
        clinic.world.violation(
          `${path} of ${clinic.neighbour.name} answered ${outcome.status} to ${clinic.name}`,
        );
    }
    if (sub) await clinic.client("DELETE", `/waiting_rooms/${sub.slug}/waiting_room_subs/${sub.id}`);
  },
  async "revokes a client"(clinic) {
    if (clinic.world.chance.is(0.7)) return;
    const api_client = { name: clinic.unique("Client"), organization_user_id: clinic.providers[0]?.id };
    const made = await clinic.platform("POST", `${clinic.own}/api_clients`, { api_client });
    if (made?.status !== 201) return;
    const { id, client_id, client_secret } = made.body;
    const credentials = { "X-Client-ID": client_id, "X-Client-Secret": client_secret };
    for (let n = 0; n < 3; n++) await clinic.clientWith(credentials, "GET", "/roles");
    const outcome = await clinic.platform("DELETE", `${clinic.own}/api_clients/${id}`);
    if (outcome?.status !== 204) return;
    await clinic.world.schedule.pause(61_000);
    const after = await clinic.clientWith(credentials, "GET", "/roles");
    if (after?.status === 200) clinic.world.violation("A revoked client was served after a minute");
  },
  async "erases a patient"(clinic) {
    const patient = pick(
      clinic,
      clinic.patients.filter(({ isLeaving }) => !isLeaving),
    );
    if (!patient || clinic.world.chance.is(0.5)) return;
    patient.isLeaving = true;
    clinic.patients.push(clinic.newPatient());
    while (patient.namedBy > 0) await clinic.world.schedule.pause(1000);
    const path = `/participants?external_reference=${patient.external_reference}&texts=true`;
    for (let n = 0; n < 3; n++) {
      const { status, body } = (await clinic.client("DELETE", path)) ?? {};
      if (status !== 200) return;
      const left = body.held_count + body.ongoing_count + body.remaining_count;
      if (left === 0) {
        patient.isErased = true;
        return;
      }
      await clinic.world.schedule.pause(60_000);
    }
  },
};

async function reportCall(clinic: Clinic, call: Call, report: object) {
  const outcome = await clinic.platform("PUT", `${clinic.own}/calls/${call.key}`, { call: report });
  if (outcome && outcome.status < 300) call.id = outcome.body.id;
  return outcome;
}

async function reportText(clinic: Clinic, call: Call, text: "transcript" | "soap_note", said: object) {
  const outcome = await clinic.platform("PUT", `${clinic.own}/calls/${call.key}/${text}`, { [text]: said });
  if (outcome?.status === 200) call.reported.add(text);
}

async function aPerson(clinic: Clinic): Promise<Person | undefined> {
  const patient = pick(
    clinic,
    clinic.patients.filter(({ isLeaving }) => !isLeaving),
  );
  return patient && { key: clinic.unique("person").replaceAll(" ", "-"), patient };
}

const saysOf = ({ key, patient: { display_name, external_reference } }: Person) => ({
  key,
  display_name,
  external_reference,
  role: "recipient",
});

/** The acts of an organization's video backend. */
export const backendActs: Record<string, Act> = {
  async "begins a call"(clinic) {
    const person = await aPerson(clinic);
    if (!person) return;
    const owner = clinic.world.chance.pick(clinic.providers);
    const call: Call = {
      key: clinic.unique("call").replaceAll(" ", "-"),
      owner,
      people: [person],
      isEnded: false,
      reported: new Set(),
      deletedAt: {},
    };
    const joined_at = clinic.ago(20);
    await clinic.naming(person.patient, () =>
      reportCall(clinic, call, {
        waiting_room_slug: owner.waiting_room_slug,
        organization_user_id: owner.id,
        started_at: joined_at,
        participants: [{ ...saysOf(person), joined_at, recording_consent: true }],
      }),
    );
    clinic.calls.push(call);
  },
  async "reports somebody again"(clinic) {
    const call = aKnownCall(clinic);
    const person = call && pick(clinic, call.people);
    if (!call || !person) return;
    await clinic.naming(person.patient, () =>
      reportCall(clinic, call, { participants: [{ ...saysOf(person), recording_consent: true }] }),
    );
  },
  async "reports a further participant"(clinic) {
    const call = pick(
      clinic,
      clinic.calls.filter(({ isEnded, id }) => !isEnded && id !== undefined),
    );
    const person = call && (await aPerson(clinic));
    if (!call || !person) return;
    call.people.push(person);
    const consent = { joined_at: clinic.ago(10), recording_consent: true };
    await clinic.naming(person.patient, () =>
      reportCall(clinic, call, { participants: [{ ...saysOf(person), ...consent }] }),
    );
  },
  async "reports a refusal"(clinic) {
    const call = aKnownCall(clinic);
    const person = call && pick(clinic, call.people);
    if (!call || !person || clinic.world.chance.is(0.6)) return;
    const refusal = { key: person.key, recording_consent: false };
    const outcome = await reportCall(clinic, call, { participants: [refusal] });
    if (outcome && outcome.status < 300) call.refusedAt ??= clinic.world.schedule.steps;
  },
  async "ends a call"(clinic) {
    const call = pick(
      clinic,
      clinic.calls.filter(({ isEnded, id }) => !isEnded && id !== undefined),
    );
    if (!call) return;
    call.isEnded = true;
    await reportCall(clinic, call, { ended_at: clinic.ago(0.1) });
  },
  async "reports a transcript"(clinic) {
    const call = aKnownCall(clinic);
    const person = call?.people[0];
    if (!call || !person) return;
    const line = { participant_key: person.key, text: clinic.unique("Hello"), start_time: 0, end_time: 1 };
    const transcript = { summary: clinic.unique("Summary"), is_final: true, lines: [line] };
    await reportText(clinic, call, "transcript", transcript);
  },
  async "reports a SOAP note"(clinic) {
    const call = aKnownCall(clinic);
    const soap_note = { text: clinic.unique("Plan"), is_final: true };
    if (call) await reportText(clinic, call, "soap_note", soap_note);
  },
  async "reports a recording"(clinic) {
    const call = aKnownCall(clinic);
    if (!call) return;
    const egress_id = clinic.unique("egress").replaceAll(" ", "-");
    const path = `${clinic.own}/egresses/${egress_id}`;
    await clinic.platform("PUT", path, { egress: { call_key: call.key, status: "egress_active" } });
    const storage_key = `${clinic.slug}/${egress_id}.mp4`;
    clinic.world.files.set(`recordings/${storage_key}`, new Uint8Array([1]));
    const ended = { status: "egress_ended", is_stopped: true, ended_at: clinic.ago(0.05), storage_key };
    await clinic.platform("PUT", path, { egress: { call_key: call.key, ...ended } });
  },
  async "reports somebody waiting"(clinic) {
    const person = await aPerson(clinic);
    const slug = pick(clinic, clinic.rooms);
    if (!person || !slug) return;
    const { key, ...said } = saysOf(person);
    const path = `/waiting_rooms/${slug}/participants/${key}`;
    await clinic.naming(person.patient, () =>
      clinic.platform("PUT", path, { participant: { ...said, waiting_since: clinic.ago(5) } }),
    );
    await clinic.world.schedule.pause(clinic.world.chance.below(60_000));
    await clinic.platform("PUT", path, { participant: { left_at: clinic.ago(0) } });
  },
  async "lets LiveKit report a visit"(clinic) {
    const patient = pick(
      clinic,
      clinic.patients.filter(({ isLeaving }) => !isLeaving),
    );
    if (patient) await playRoom(clinic, patient);
  },
  async "signs somebody in"(clinic) {
    const { email } = clinic.world.chance.pick(clinic.providers);
    const exchanged = await exchangeToken(clinic, email);
    if (exchanged?.status !== 200) return;
    const redeem = () => clinic.platform("POST", "/authorization_codes/redeem", exchanged.body);
    const redeemed = await Promise.all([redeem(), redeem()]);
    if (redeemed.every((outcome) => outcome?.status === 200))
      clinic.world.violation("An authorization code was redeemed twice");
  },
  async "removes a member"(clinic) {
    const email = `${clinic.unique("max").replaceAll(" ", "-")}@example.com`;
    const user = { email, display_name: clinic.unique("Max"), roles: ["provider"] };
    const added = await clinic.platform("POST", `${clinic.own}/users`, { user });
    if (added?.status !== 201) return;
    await exchangeToken(clinic, email);
    const removed = await clinic.platform("DELETE", `${clinic.own}/users/${added.body.id}`);
    if (removed?.status !== 204) return;
    const after = await exchangeToken(clinic, email);
    if (after?.status === 200) clinic.world.violation("A former member signed in");
  },
  async "accepts an invite"(clinic) {
    const id = pick(clinic, clinic.invites);
    if (!id) return;
    const invite = await clinic.platform("GET", `${clinic.own}/invites/${id}`);
    if (invite?.status !== 200 || !invite.body.accept_url) return;
    const token = new URL(invite.body.accept_url).searchParams.get("token");
    await clinic.platform("POST", "/invites/accept", { token });
  },
  async "suspends the organization for a while"(clinic) {
    if (clinic.world.chance.is(0.7)) return;
    for (const is_suspended of [true, false]) {
      await clinic.platform("PUT", clinic.own, { organization: { is_suspended } });
      await clinic.world.schedule.pause(clinic.world.chance.below(5000));
    }
  },
};

/** Each organization begins with a room, and with a call that has ended, and its results. */
export async function playBeginning(clinic: Clinic): Promise<void> {
  await organizationActs["creates a room"]?.(clinic);
  for (const act of [
    "begins a call",
    "ends a call",
    "reports a transcript",
    "reports a SOAP note",
    "reports a recording",
  ])
    await backendActs[act]?.(clinic);
}

/** Each story has only some of the acts: so those meet more often than if all took part. */
function someOf({ chance }: World, acts: Record<string, Act>): Record<string, Act> {
  const some = Object.entries(acts).filter(() => chance.is(0.35));
  return some.length > 0 ? Object.fromEntries(some) : acts;
}

/** Does things one after another, with pauses. */
async function play(world: World, who: string, clinic: Clinic, acts: Record<string, Act>, count: number) {
  await world.schedule.as(who, undefined, async () => {
    for (let n = 0; n < count; n++) {
      const what = world.chance.pick(Object.keys(acts));
      world.schedule.say(what);
      await acts[what]?.(clinic);
      await world.schedule.pause(world.chance.below(3000));
    }
  });
}

/** Two systems of each organization, its two video backends and the cron, all at the same time. */
export async function playEverybody(world: World, clinics: Clinic[], odds: Odds, size: Size): Promise<void> {
  world.begin(odds);
  let isOver = false;
  const cron = world.schedule.as("cron", undefined, async () => {
    while (!isOver) {
      await world.schedule.pause(20_000 + world.chance.below(20_000));
      await world.runCron();
    }
  });
  const own = someOf(world, organizationActs);
  const reports = someOf(world, backendActs);
  const actors = clinics.flatMap((clinic) => [
    () => play(world, `${clinic.name}'s records`, clinic, own, size.acts),
    () => play(world, `${clinic.name}'s scheduling`, clinic, own, size.acts),
    () => play(world, `${clinic.name}'s backend`, clinic, reports, size.acts),
    () => play(world, `${clinic.name}'s second backend`, clinic, reports, size.acts),
  ]);
  const operator = world.schedule.as("operator", undefined, () => moveAround(world, clinics));
  await Promise.all(actors.filter((_, n) => size.actors.includes(n)).map((act) => act()));
  isOver = true;
  await Promise.all([cron, operator]);
}
