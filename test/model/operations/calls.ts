import { MINUTE } from "../../../src/units.ts";
import {
  BOOLEAN,
  kind,
  list,
  NAME,
  nullable,
  object,
  required,
  resource,
  someOf,
  text,
  time,
  usual,
  verbatim,
} from "../kinds.ts";
import {
  type Call,
  type Caller,
  type CallText,
  found,
  type Input,
  idOf,
  invalid,
  type Model,
  matches,
  type Organization,
  ownedBy,
  type Participant,
  pageAfter,
  Refusal,
  type Request,
  type Room,
  requireUnchanged,
  timestamp,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import {
  AFTER,
  anySlug,
  MEMBER,
  type Operations,
  type Path,
  pickOwned,
  RANGE,
  referenceOf,
} from "../operation.ts";
import { membersOf, reachedMember, reachOf } from "./members.ts";
import { organizationOf } from "./organizations.ts";
import {
  METRICS_QUERY,
  metricsOf,
  PARTICIPANT_ROLE,
  PEOPLE,
  PERSON_REFERENCE,
  REFERENCE,
  REFERENCES,
  reachedRoom,
  USER,
} from "./visits.ts";

export const CALL_PATH = "/organization_users/{organization_user_id}/calls/{call_id}";

/** Recordings are shown once the call has ended, and if everybody on it has consented. */
export const isVisible = (model: Model, call: Call): boolean => {
  const people = participantsOf(model, call);
  return call.ended_at !== null && people.length > 0 && people.every((each) => consentOf(each) === true);
};

export const egressesOf = (model: Model, call: Call) =>
  model.egresses.filter((egress) => egress.call === call);

const stateOf = ({ ended_at }: Call, known: CallText | null) => {
  if (!known) return "none";
  return known.is_final && ended_at !== null ? "ready" : "pending";
};

/** The state of a call's results. */
const resultsOf = (model: Model, call: Call) => ({
  transcript: stateOf(call, call.texts.transcript),
  soap_note: stateOf(call, call.texts.soap_note),
  egresses: isVisible(model, call) ? egressesOf(model, call).length : 0,
});

const summary = (call: Call) =>
  view(call, "started_at ended_at", {
    organization_user_id: call.owner.id,
    waiting_room_id: idOf(call.room),
    visit_id: null,
    is_ended: call.ended_at !== null,
  });

const details = (call: Call) => ({
  external_reference: call.external_reference,
  ended_by: call.ended_at === null ? null : "reported",
  failed: call.failed,
  legal_hold: call.hold && { ...call.hold, began_at: timestamp(call.hold.began_at) },
});

const listed = (model: Model, call: Call) => ({ ...summary(call), results: resultsOf(model, call) });

const shown = (model: Model, call: Call, { member }: Caller) => {
  const isAdmin = member.roles.includes("organization_admin");
  return { ...listed(model, call), ...details(isAdmin ? call : { ...call, hold: null }) };
};

export const reported = (call: Call) => ({ ...summary(call), key: call.key, ...details(call) });

export const callsOf = (model: Model, caller: Caller): Call[] =>
  model.calls.filter(({ owner }) => reachOf(model, caller).includes(owner));

/** The call in the path, which names its holder too. */
export const callOf = (model: Model, { caller, path }: Request): Call =>
  found(
    callsOf(model, caller).find(
      ({ id, owner }) => id === Number(path.call_id) && owner.id === Number(path.organization_user_id),
    ),
  );

export const callOfKey = (model: Model, request: Request): Call =>
  found(ownedBy(organizationOf(model, request), model.calls).find(({ key }) => key === request.path.key));

/** Mostly a call with its holder. */
export const aCall: Path = (choice) => {
  const call = pickOwned(choice, choice.model.calls);
  if (!call) return { key: "c1" };
  const others = choice.hasFaults && choice.chance.is(0.1) ? choice.model.members : [call.owner];
  return { call_id: call.id, organization_user_id: choice.chance.pick(others).id, key: call.key };
};

export const KEYS = ["c1", "c1", "c2", "c3"];

export const aKey: Path = ({ chance, organization_id }) => ({ key: chance.pick(KEYS), organization_id });

/** A time in the past, in minutes. */
export const past = (minutes: readonly number[]) =>
  time((now, chance) => now - chance.pick(minutes) * MINUTE, ["2999-01-01T00:00:00Z", "now", 5]);

export const PERSON_KEYS = ["p1", "p2", "p3", "p4"];
const PERSON = {
  display_name: usual(NAME),
  role: usual(PARTICIPANT_ROLE),
  user_id: USER,
  external_reference: PERSON_REFERENCE,
};

/** Two participants of a report have different keys. */
const REPORTED = list(
  object({
    ...PERSON,
    key: required(someOf(PERSON_KEYS, ["", 5])),
    left_at: nullable(past([0])),
    recording_consent: BOOLEAN,
    // A refusal may have any time, even one in the future.
    recording_consent_at: { ...past([1, 10, 60]), bad: ["now", 5] },
    recording_consent_method: text(50, ["verbal", "form"]),
  }),
  0,
  500,
);

const areDistinct = ({ participants = [] }: { participants?: { key: string }[] }) =>
  new Set(participants.map(({ key }) => key)).size === participants.length;

const CALL = resource(
  "call",
  {
    waiting_room_slug: usual(kind(anySlug, [5])),
    organization_user_id: usual(MEMBER),
    started_at: usual(past([30, 30, 1500])),
    ended_at: nullable(past([0, 0, 0, 40])),
    failed: nullable(BOOLEAN),
    legal_hold: BOOLEAN,
    external_reference: REFERENCE,
    participants: usual(REPORTED),
  },
  areDistinct,
);

const participantOf = (model: Model, organization: Organization, key: string) =>
  ownedBy(organization, model.participants).find((each) => each.key === key);

export const requireMember = (
  model: Model,
  organization: Organization,
  user_id: number | null | undefined,
) => {
  const isMember = membersOf(model, organization).some(({ id }) => id === user_id);
  if (user_id && !isMember) throw unprocessable("not_a_member");
};

/** Applies a report to what is known of a person. What the organization has said stays. */
function mergePerson(known: Participant | undefined, report: Input, incomplete: string) {
  const fields = Object.keys(PERSON).filter((field) => field in report && !known?.said.includes(field));
  const next = {
    ...{ user_id: null, external_reference: null, said: [], consents: [], ...known },
    ...Object.fromEntries(fields.map((field) => [field, report[field]])),
  };
  if (next.display_name === undefined || next.role === undefined) throw unprocessable(incomplete);
  return next;
}

const isAfter = (time: number | null, other: number | null) =>
  time !== null && other !== null && time > other;

/** Adds a decision to a participant's ledger. */
function decide(now: number, call: Call, { consents }: Participant, report: Input): void {
  const { recording_consent, recording_consent_at: at, recording_consent_method: method = null } = report;
  if (recording_consent === undefined) return;
  const decision = recording_consent ? "granted" : "refused";
  if (at === undefined && recording_consent && consents.at(-1)?.decision === "granted") return;
  const refusals = consents.filter((each) => each.decision === "refused").map(({ decided_at }) => decided_at);
  const undated = recording_consent
    ? Math.min(call.started_at, now, ...(refusals.length > 0 ? [Math.max(...refusals)] : []))
    : now;
  const decided_at = at === undefined ? undated : Math.min(at, now);
  const isKnown = consents.some(
    (each) => each.decision === decision && (each.said_at ?? each.decided_at) === (at ?? decided_at),
  );
  if (!isKnown)
    consents.push({ id: 0, order: now, decision, decided_at, said_at: at ?? null, method, reported_at: now });
}

/** The latest decision counts, and of two at the same time the refusal. */
export function consentOf({ consents }: Participant): boolean | null {
  const latest = Math.max(...consents.map(({ decided_at }) => decided_at));
  const last = consents.filter(({ decided_at }) => decided_at === latest);
  return last.length === 0 ? null : last.every(({ decision }) => decision === "granted");
}

export const participantsOf = (model: Model, call: Call) =>
  model.participants.filter((each) => each.call === call);

function reportCall(model: Model, organization: Organization, key: string, report: Input): Call {
  const known = ownedBy(organization, model.calls).find((call) => call.key === key);
  const named = model.slugs.get(report.waiting_room_slug?.toLowerCase());
  const room = known?.room ?? (named?.organization === organization ? named : undefined);
  if (!room)
    throw unprocessable(report.waiting_room_slug === undefined ? "first_report_incomplete" : "room_unknown");
  const owner_id = report.organization_user_id ?? known?.owner.id;
  const started_at = report.started_at ?? known?.started_at;
  if (owner_id === undefined || started_at === undefined) throw unprocessable("first_report_incomplete");
  const owner = membersOf(model, organization).find(({ id }) => id === owner_id);
  if (!owner) throw unprocessable("not_a_member");
  const ended_at = report.ended_at ?? known?.ended_at ?? null;
  if (ended_at !== null && ended_at < started_at) throw invalid();
  const isReference = report.external_reference !== undefined && !known?.isOwnReference;
  const mayHold = known?.hold?.begun_by !== "platform" && !known?.hasEndedHold;
  const begun: Call["hold"] = { reason: null, began_at: model.now, ...known?.hold, begun_by: "platform" };
  const call: Call = {
    ...{ id: 0, organization, key, isOwnReference: false, hold: null, hasEndedHold: false },
    ...{ texts: { transcript: null, soap_note: null }, deleted: new Set(), ...known },
    ...{ room, owner, started_at, ended_at },
    failed: report.failed === undefined ? (known?.failed ?? false) : (report.failed ?? false),
    external_reference: isReference ? report.external_reference : (known?.external_reference ?? null),
    ...(report.legal_hold && mayHold ? { hold: begun } : {}),
  };
  const written = known ?? call;
  const reports: Input[] = report.participants ?? [];
  const merged = reports.map((said) => {
    const before = participantOf(model, organization, said.key);
    const person = mergePerson(before, said, "participant_incomplete");
    const left_at = said.left_at ?? before?.left_at ?? null;
    const fresh = { id: 0, organization, key: said.key, waiting_since: null };
    return { before, said, next: { ...fresh, ...person, room, left_at } as Participant };
  });
  for (const { user_id } of reports) requireMember(model, organization, user_id);
  for (const { before, next } of merged) {
    if (before?.call && before.call !== known) throw unprocessable("participant_on_other_call");
    if (isAfter(next.waiting_since, next.left_at)) throw invalid();
  }
  if (known) Object.assign(known, call);
  else model.calls.push(call);
  for (const { before, next, said } of merged) {
    const participant = before ? Object.assign(before, next) : next;
    if (!before) model.participants.push(participant);
    participant.call = written;
    decide(model.now, written, participant, said);
  }
  const leaving =
    typeof report.ended_at === "number"
      ? participantsOf(model, written)
      : reports.map(({ key }) => participantOf(model, organization, key) as Participant);
  if (ended_at !== null)
    for (const each of leaving) each.left_at ??= Math.max(ended_at, each.waiting_since ?? 0);
  return written;
}

/** Applies the report of somebody in a waiting room. */
function reportParticipant(model: Model, room: Room, slug: string, key: string, report: Input): Participant {
  const { organization } = room;
  const known = participantOf(model, organization, key);
  const isCurrent = !room.is_retired && room.slug === slug.toLowerCase();
  const outdated = new Refusal(404, "slug_outdated");
  if (!known && !isCurrent) throw outdated;
  const person = mergePerson(known, report, "first_report_incomplete");
  const since = report.waiting_since ?? null;
  const isReturn = known?.call === null && isAfter(since, known.left_at ?? known.waiting_since);
  const left_at = report.left_at ?? (known && !isReturn ? known.left_at : null);
  const waiting_since = since ?? known?.waiting_since ?? null;
  const call = known?.call ?? null;
  if (!known && waiting_since === null) throw unprocessable("first_report_incomplete");
  if (isAfter(waiting_since, left_at)) {
    const comesAfterCall = call !== null && isAfter(waiting_since, known?.left_at ?? null);
    throw comesAfterCall ? unprocessable("participant_left") : invalid();
  }
  requireMember(model, organization, report.user_id);
  const waits = left_at === null && call === null;
  const stays = known && !isReturn && !waits;
  if (waits && !(known?.left_at === null && known.room === room)) {
    if (!isCurrent) throw outdated;
    if (!room.is_active) throw unprocessable("room_inactive");
  }
  const place = { room: stays ? known.room : room, call, waiting_since, left_at };
  const next = { id: 0, organization, key, ...person, ...place } as Participant;
  if (known) return Object.assign(known, next);
  model.participants.push(next);
  return next;
}

const PERSON_FIELDS = "role user_id display_name external_reference";

const onCall = (participant: Participant) =>
  view(participant, `${PERSON_FIELDS} waiting_since left_at`, {
    joined_at: null,
    recording_consent: consentOf(participant),
  });

const listCalls = (model: Model, { query }: Request, calls: Call[]) =>
  pageAfter(
    "calls",
    calls.filter(
      matches(query, (call) => ({
        external_reference: call.external_reference,
        participant_reference: participantsOf(model, call).map((each) => each.external_reference),
      })),
    ),
    { model, query, isDescending: true },
    ({ started_at }) => started_at,
    (call) => listed(model, call),
  );

const HOLD = resource("legal_hold", {
  reason: nullable(verbatim(1000, ["Case 1", "Case 2"], [" ", 5, "x".repeat(1001)])),
});

type Holder = "platform" | "organization";

const requireMayChange = ({ hold }: Call, by: Holder): void => {
  if (hold?.begun_by === "platform" && by !== "platform") throw unprocessable("hold_of_platform");
};

function hold(model: Model, call: Call, begun_by: Holder, { body, sent }: Request): void {
  if (call.hold) {
    const { began_at, begun_by } = call.hold;
    requireUnchanged(sent.legal_hold, { began_at: timestamp(began_at), begun_by });
  }
  const { reason = call.hold?.reason ?? null } = body.legal_hold;
  if (call.hold?.begun_by === begun_by && call.hold.reason === reason) return;
  requireMayChange(call, begun_by);
  call.hold = { began_at: model.now, ...call.hold, reason, begun_by };
}

function release(call: Call, by: Holder): void {
  requireMayChange(call, by);
  if (call.hold && by === "platform") call.hasEndedHold = true;
  call.hold = null;
}

export const CALLS: Operations = {
  "external GET /calls": {
    isRecorded: (query) => "participant_reference" in query,
    query: {
      ...AFTER,
      ...RANGE,
      external_reference: referenceOf(REFERENCES),
      participant_reference: referenceOf(PEOPLE),
    },
    play: (model, request) => listCalls(model, request, callsOf(model, request.caller)),
  },
  "external GET /organization_users/{organization_user_id}/calls": {
    query: { ...AFTER, ...RANGE, external_reference: referenceOf(REFERENCES) },
    play(model, request) {
      const owner = reachedMember(model, request);
      const calls = callsOf(model, request.caller).filter((call) => call.owner === owner);
      return listCalls(model, request, calls);
    },
  },
  [`external GET ${CALL_PATH}`]: {
    play: (model, request) => shown(model, callOf(model, request), request.caller),
  },
  [`external PUT ${CALL_PATH}`]: {
    body: resource("call", { external_reference: REFERENCE }),
    play(model, request) {
      const call = callOf(model, request);
      const { external_reference } = request.body.call;
      if (external_reference !== undefined) Object.assign(call, { external_reference, isOwnReference: true });
      return shown(model, call, request.caller);
    },
  },
  [`external GET ${CALL_PATH}/participants`]: {
    isRecorded: true,
    play: (model, request) => ({ participants: participantsOf(model, callOf(model, request)).map(onCall) }),
  },
  [`external PUT ${CALL_PATH}/participants/{participant_id}`]: {
    roles: ["provider", "organization_admin"],
    isRecorded: true,
    path(choice) {
      const { model, chance } = choice;
      const path = aCall(choice);
      const people = model.participants.filter(({ id, call }) => id !== 0 && call?.id === path.call_id);
      return { ...path, participant_id: people.length > 0 ? chance.pick(people).id : 999_999 };
    },
    body: resource("participant", { display_name: NAME, external_reference: PERSON_REFERENCE }),
    play(model, request) {
      const people = participantsOf(model, callOf(model, request));
      const participant = withId(people, request.path.participant_id);
      Object.assign(participant, request.body.participant);
      participant.said = [...participant.said, ...Object.keys(request.body.participant)];
      return onCall(participant);
    },
  },
  "external GET /waiting_rooms/{slug}/participants": {
    area: "rooms",
    isRecorded: true,
    play(model, { caller, path }) {
      const waiting = model
        .waitingIn(found(reachedRoom(model, caller, path.slug)))
        .sort((one, other) => (one.waiting_since ?? 0) - (other.waiting_since ?? 0));
      const shown = (each: Participant) => view(each, `${PERSON_FIELDS} waiting_since`, { visit_id: null });
      return { participants: waiting.map(shown) };
    },
  },
  [`external GET ${CALL_PATH}/consents`]: {
    isRecorded: true,
    play(model, request) {
      const decisions = participantsOf(model, callOf(model, request)).flatMap((participant) =>
        participant.consents.map((consent) => ({ participant, consent })),
      );
      const latest = new Map<Participant, string>();
      const consents = decisions
        .sort(
          (one, other) =>
            one.consent.decided_at - other.consent.decided_at || one.consent.order - other.consent.order,
        )
        .flatMap(({ participant, consent }) => {
          const before = latest.get(participant);
          latest.set(participant, consent.decision);
          if (consent.decision === "refused" && before === "refused") return [];
          const decision = consent.decision === "refused" && before ? "withdrawn" : consent.decision;
          const participant_id = idOf(participant);
          return [view(consent, "decided_at method reported_at", { participant_id, decision })];
        });
      return { consents };
    },
  },
  [`external PUT ${CALL_PATH}/legal_hold`]: {
    area: "results",
    roles: ["organization_admin"],
    body: HOLD,
    play(model, request) {
      const call = callOf(model, request);
      hold(model, call, "organization", request);
      return shown(model, call, request.caller);
    },
  },
  [`external DELETE ${CALL_PATH}/legal_hold`]: {
    area: "results",
    roles: ["organization_admin"],
    play(model, request) {
      release(callOf(model, request), "organization");
    },
  },
  "external GET /call_metrics": {
    query: METRICS_QUERY,
    play(model, request) {
      const owned = model.calls.map((call) => ({ ...call, call, holder: call.owner }));
      const each = metricsOf(model, request, owned);
      const average = (values: number[]) =>
        values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
      const waits = ({ call }: { call: Call }) =>
        participantsOf(model, call).flatMap(({ role, waiting_since }) =>
          role === "recipient" && waiting_since !== null
            ? [Math.max(0, call.started_at - waiting_since) / 1000]
            : [],
        );
      const durations = ({ started_at, ended_at }: Call) =>
        ended_at === null ? [] : [(ended_at - started_at) / 1000];
      return {
        total_calls: each((some) => some.length),
        average_duration: each((some) => average(some.flatMap(durations))),
        call_fail_rate: each((some) => average(some.map(({ failed }) => Number(failed)))),
        average_wait_time: each((some) => average(some.flatMap(waits))),
      };
    },
  },
  "platform PUT /organizations/{organization_id}/calls/{key}": {
    body: CALL,
    play(model, request) {
      const { path, body } = request;
      return reported(reportCall(model, organizationOf(model, request), path.key ?? "", body.call));
    },
  },
  "platform GET /organizations/{organization_id}/calls/{key}": {
    play: (model, request) => reported(callOfKey(model, request)),
  },
  "platform PUT /organizations/{organization_id}/calls/{key}/legal_hold": {
    body: HOLD,
    play(model, request) {
      const call = callOfKey(model, request);
      hold(model, call, "platform", request);
      return reported(call);
    },
  },
  "platform DELETE /organizations/{organization_id}/calls/{key}/legal_hold": {
    play(model, request) {
      release(callOfKey(model, request), "platform");
    },
  },
  "platform PUT /waiting_rooms/{slug}/participants/{key}": {
    path: ({ chance }) => ({ key: chance.pick(PERSON_KEYS) }),
    body: resource("participant", {
      ...PERSON,
      waiting_since: usual(past([0])),
      left_at: nullable(past([0])),
    }),
    play(model, request) {
      const { slug = "", key = "" } = request.path;
      const room = found(model.slugs.get(slug.toLowerCase()));
      const participant = reportParticipant(model, room, slug, key, request.body.participant);
      return view(participant, "key role user_id display_name waiting_since left_at", {
        joined_at: null,
        waiting_room_id: idOf(participant.room),
        call_id: participant.call && idOf(participant.call),
      });
    },
  },
};
