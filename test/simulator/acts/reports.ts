import type { Call, Clinic, Person } from "../clinic.ts";
import { playRoom } from "../livekit.ts";
import { type Act, aKnownCall, pick } from "./act.ts";

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
  const patient = pick(clinic, clinic.patients, ({ isLeaving }) => !isLeaving);
  return patient && { key: clinic.unique("person").replaceAll(" ", "-"), patient };
}

const saysOf = ({ key, patient: { display_name, external_reference } }: Person) => ({
  key,
  display_name,
  external_reference,
  role: "recipient",
});

/** The reports of a video backend. */
export const reportActs: Record<string, Act> = {
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
    const call = pick(clinic, clinic.calls, ({ isEnded, id }) => !isEnded && id !== undefined);
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
    const call = pick(clinic, clinic.calls, ({ isEnded, id }) => !isEnded && id !== undefined);
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
    const patient = pick(clinic, clinic.patients, ({ isLeaving }) => !isLeaving);
    if (patient) await playRoom(clinic, patient);
  },
};
