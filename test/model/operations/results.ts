import { isDeepStrictEqual } from "node:util";
import {
  BOOLEAN,
  type Choice,
  kind,
  list,
  nullable,
  numeral,
  object,
  oneOf,
  required,
  resource,
  someOf,
  usual,
  verbatim,
} from "../kinds.ts";
import {
  ANYTHING,
  type Call,
  type CallText,
  type Egress,
  found,
  type Input,
  idOf,
  isWithin,
  Learned,
  type Line,
  type Model,
  matches,
  newRow,
  ownedBy,
  page,
  portion,
  type Request,
  timestamp,
  timestampOrNull,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import { MEMBER, type Operations, PAGE, type Path, PER_PAGE, pickOwned, RANGE } from "../operation.ts";
import {
  aCall,
  CALL_PATH,
  callOf,
  callOfKey,
  callsOf,
  egressesOf,
  isVisible,
  KEYS,
  PERSON_KEYS,
  participantsOf,
  past,
  requireMember,
} from "./calls.ts";
import { organizationOf } from "./organizations.ts";

type TextKind = "transcript" | "soap_note";

const multiline = (values: readonly string[], bad: readonly unknown[] = ["", 5]) =>
  verbatim(500, values, bad);

const NOTE = multiline(["Subjective: better.", "Subjective: worse.\nPlan: rest."]);
const REASON = required(multiline(["Misheard"]));

const lineTimes = (line: Line) => ({ text: line.text, start_time: line.start_time, end_time: line.end_time });

const shownText = (model: Model, call: Call, kind: TextKind, known: CallText) => {
  if (kind === "soap_note") return view(known, "text is_final");
  const names = new Map(participantsOf(model, call).map(({ key, display_name }) => [key, display_name]));
  const shownLine = (line: Line) => ({
    ...{ ...lineTimes(line), display_name: names.get(line.participant_key) },
    id: new Learned((value: number) => {
      line.id = value;
    }),
  });
  const transcript_lines = known.lines.map(shownLine);
  return view(known, "is_final", { summary: known.summary ?? "", transcript_lines });
};

/** A text of an ended call. */
const readableText = (model: Model, request: Request, kind: TextKind) => {
  const call = callOf(model, request);
  if (call.ended_at === null) found(undefined);
  return { call, known: found(call.texts[kind] ?? undefined) };
};

function deleteText(call: Call, kind: TextKind) {
  if (call.hold) throw unprocessable("legal_hold");
  if (call.texts[kind]) call.deleted.add(kind);
  call.texts[kind] = null;
}

const seconds = (values: readonly number[], bad: readonly unknown[]) =>
  required({ ...someOf(values, bad), accepts: (value) => typeof value === "number" && value >= 0 });

const LINES = list(
  object({
    participant_key: required(someOf(PERSON_KEYS, ["", 5])),
    text: required(multiline(["Good morning.", "How are you?"])),
    start_time: seconds([0], [-1, "0"]),
    end_time: seconds([1, 1.5], [-1, "1"]),
  }),
  0,
  10_000,
  1,
);

function reportText(model: Model, call: Call, kind: TextKind, report: Input): CallText {
  const before = call.texts[kind];
  if (call.deleted.has(kind)) throw unprocessable("text_deleted");
  const is_final = report.is_final ?? before?.is_final;
  const content = kind === "soap_note" ? (report.text ?? before?.text) : (report.lines ?? before?.lines);
  if (is_final === undefined || content === undefined) throw unprocessable("first_report_incomplete");
  const speakers = participantsOf(model, call).map(({ key }) => key);
  if (report.lines?.some((line: Line) => !speakers.includes(line.participant_key)))
    throw unprocessable("speaker_unknown");
  const isKept = report.summary === undefined || (!report.summary && before?.is_final);
  const summary = isKept ? (before?.summary ?? null) : (report.summary ?? "");
  const said = (lines: Line[]) =>
    JSON.stringify(lines.map((line) => [line.participant_key, lineTimes(line)]));
  const changes =
    !is_final ||
    (kind === "soap_note" ? content !== before?.text : said(content) !== said(before?.reportedLines ?? [])) ||
    (before?.summary && summary !== before.summary);
  if (before?.is_final && changes) throw unprocessable("text_final");
  const next: CallText = {
    ...{ id: 0, versions: [], ...before, summary, is_final },
    text: kind === "soap_note" ? content : null,
    lines: before?.is_final ? before.lines : structuredClone(kind === "transcript" ? content : []),
    reportedLines: report.lines ?? before?.reportedLines ?? [],
  };
  if (before) Object.assign(before, next);
  else call.texts[kind] = next;
  return call.texts[kind] as CallText;
}

/** Corrects a text, and keeps the version that the correction replaces. */
function correct(model: Model, request: Request, kind: TextKind) {
  const call = callOf(model, request);
  const known = found(call.texts[kind] ?? undefined);
  if (call.ended_at === null || !known.is_final) throw unprocessable("text_not_final");
  const { reason, text: said, summary, lines = [] } = request.body[kind];
  const changed = new Map<number, string>(lines.map((line: Line) => [line.id, line.text]));
  if ([...changed.keys()].some((id) => !known.lines.some((line) => line.id === id)))
    throw unprocessable("line_unknown");
  const next = known.lines.map((line) => ({ ...line, text: changed.get(line.id) ?? line.text }));
  const { text: before, summary: oldSummary, lines: oldLines } = known;
  const newSummary = summary === undefined || summary === (oldSummary ?? "") ? oldSummary : summary;
  const corrected = { text: said ?? before, summary: newSummary, lines: next };
  const former = { text: before, summary: oldSummary, lines: oldLines };
  if (!isDeepStrictEqual(corrected, former)) {
    const by = { reason, user_id: request.caller.member.id, created_at: model.now };
    known.versions.push({ ...former, ...by, version: known.versions.length + 1 });
    Object.assign(known, corrected);
  }
  return shownText(model, call, kind, known);
}

function versionsOf(model: Model, request: Request, kind: TextKind) {
  const { call, known } = readableText(model, request, kind);
  const { after = Number.POSITIVE_INFINITY, per_page = 25 } = request.query;
  const older = known.versions.filter(({ version }) => version < after).reverse();
  const shown = older
    .slice(0, kind === "transcript" ? per_page : undefined)
    .map(({ version, reason, user_id, created_at, ...content }) => ({
      ...shownText(model, call, kind, { ...known, ...structuredClone(content) }),
      ...{ version, reason, user_id, created_at: timestamp(created_at) },
    }));
  const last = shown.at(-1)?.version ?? 0;
  const hasMore = shown.length >= per_page && last > 1;
  return { versions: shown, ...(kind === "transcript" ? { next_after: hasMore ? last : null } : {}) };
}

const CORRECTORS: Operations[string]["roles"] = ["provider", "organization_admin"];
const REPORTED = "platform PUT /organizations/{organization_id}/calls/{key}";

const textOperations = (
  kind: TextKind,
  report: Parameters<typeof object>[0],
  correction: Parameters<typeof object>[0],
): Operations => ({
  [`external GET ${CALL_PATH}/${kind}`]: {
    isRecorded: true,
    play(model, request) {
      const { call, known } = readableText(model, request, kind);
      return shownText(model, call, kind, known);
    },
  },
  [`external PUT ${CALL_PATH}/${kind}`]: {
    roles: CORRECTORS,
    isRecorded: true,
    body: resource(kind, { ...correction, reason: REASON }),
    play: (model, request) => correct(model, request, kind),
  },
  [`external DELETE ${CALL_PATH}/${kind}`]: {
    roles: ["organization_admin"],
    play: (model, request) => deleteText(callOf(model, request), kind),
  },
  [`external GET ${CALL_PATH}/${kind}/versions`]: {
    roles: CORRECTORS,
    isRecorded: true,
    ...(kind === "transcript" && { query: { after: VERSION, ...PER_PAGE } }),
    play: (model, request) => versionsOf(model, request, kind),
  },
  [`${REPORTED}/${kind}`]: {
    body: resource(kind, report),
    play(model, request) {
      const call = callOfKey(model, request);
      return shownText(model, call, kind, reportText(model, call, kind, request.body[kind]));
    },
  },
  [`platform DELETE /organizations/{organization_id}/calls/{key}/${kind}`]: {
    play: (model, request) => deleteText(callOfKey(model, request), kind),
  },
});

const VERSION = numeral(["1", "2", "3"], ["0", "x"]);

const aLine = object({
  id: required(
    kind(
      ({ model, chance }) => {
        const ids = model.calls
          .flatMap(({ texts }) => texts.transcript?.lines.map(({ id }) => id) ?? [])
          .filter(Boolean);
        return ids.length > 0 ? chance.pick(ids) : 999_999;
      },
      [0, "1"],
    ),
  ),
  text: required(multiline(["Good evening."])),
});

const shownEgress = (egress: Egress) =>
  view(egress, "egress_id status error is_stopped ended_at duration size created_at updated_at", {
    started_at: null,
  });

const STATUSES = ["egress_starting", "egress_active", "egress_ending", "egress_ended"];

const auditedOf = ({ egress_id, status, error, is_stopped, ended_at }: Egress) => ({
  ...{ egress_id, status, error, is_stopped, ended_at: timestampOrNull(ended_at) },
});

function logEvent(
  model: Model,
  egress: Egress,
  event: string,
  user_id: unknown,
  object_changes: object | null,
) {
  egress.log.push({ id: 0, event, user_id, object_changes, created_at: timestamp(model.now) });
}

function audit(model: Model, egress: Egress, before: Egress | undefined, user_id: number | null): void {
  const old: Record<string, unknown> = before ? auditedOf(before) : {};
  const changes = Object.entries(auditedOf(egress)).filter(([name, value]) => value !== (old[name] ?? null));
  if (changes.length === 0) return;
  const pairs = changes.map(([name, value]) => [name, [old[name] ?? null, value]]);
  logEvent(model, egress, before ? "update" : "create", user_id ?? ANYTHING, Object.fromEntries(pairs));
}

function reportEgress(model: Model, request: Request): Egress {
  const organization = organizationOf(model, request);
  const { egress_id = "" } = request.path;
  const { call_key, user_id, ...news } = request.body.egress;
  const before = ownedBy(organization, model.egresses).find((each) => each.egress_id === egress_id);
  const file = `${organization.id} ${news.storage_key}`;
  if (news.storage_key && !news.storage_key.startsWith(`${organization.slug}/`))
    throw unprocessable("file_of_other_organization");
  if (news.storage_key && (model.files.get(file) ?? egress_id) !== egress_id)
    throw unprocessable("file_of_other_recording");
  const call = ownedBy(organization, model.calls).find(({ key }) => key === call_key);
  if (before?.status === "egress_deleted") {
    const isOfTheCall = call_key === undefined || call === before.call;
    if (isOfTheCall && news.storage_key) {
      before.storage_key = news.storage_key;
      model.files.set(file, egress_id);
    }
    return before;
  }
  if (call_key !== undefined && !call) throw unprocessable("call_unknown");
  const of = before?.call ?? call;
  if (!of) throw unprocessable("first_report_incomplete");
  if (call && call !== of) throw unprocessable("other_call");
  const isLate =
    before && news.status !== undefined && STATUSES.indexOf(news.status) < STATUSES.indexOf(before.status);
  const { error = null, storage_key = null, duration = null, size = null } = news;
  const late = { error, storage_key, duration, size };
  const unknown = Object.fromEntries(
    Object.entries(late).map(([name, value]) => [name, before?.[name as keyof Egress] ?? value]),
  );
  const changes = isLate ? unknown : news;
  const nothing = { error: null, storage_key: null, duration: null, size: null, early: null };
  const state = { ...nothing, is_stopped: false, log: [], ...newRow(model), ...before, ...changes };
  if (state.status === undefined) throw unprocessable("first_report_incomplete");
  requireMember(model, organization, user_id);
  const isEnded = state.status === "egress_ended";
  const end = changes.ended_at === undefined ? (before?.early ?? null) : changes.ended_at;
  const next: Egress = {
    ...state,
    ...{ organization, call: of, egress_id },
    is_stopped: isEnded || before?.is_stopped || (state.is_stopped ?? false),
    ended_at: isEnded ? (end ?? before?.ended_at ?? before?.early ?? model.now) : null,
    early: isEnded ? null : end,
  };
  if (next.storage_key) model.files.set(`${organization.id} ${next.storage_key}`, egress_id);
  if (before && isDeepStrictEqual(before, next)) return before;
  next.updated_at = model.now;
  audit(model, next, before, user_id ?? null);
  if (before) return Object.assign(before, next);
  model.egresses.push(next);
  return next;
}

function deleteEgress(model: Model, egress: Egress, user_id: number | null) {
  if (egress.status === "egress_deleted") return;
  if (egress.call.hold) throw unprocessable("legal_hold");
  if (egress.status !== "egress_ended" || egress.call.ended_at === null)
    throw unprocessable("recording_not_ended");
  const before = { ...egress };
  Object.assign(egress, { status: "egress_deleted", updated_at: model.now });
  audit(model, egress, before, user_id);
}

const anEgress: Path = (choice) => {
  const egress = pickOwned(choice, choice.model.egresses);
  if (!egress) return aCall(choice);
  const { call } = egress;
  return { organization_user_id: call.owner.id, call_id: call.id, id: egress.id, egress_id: egress.id };
};

const egressOf = (model: Model, request: Request, id = request.path.id): Egress => {
  const call = callOf(model, request);
  return withId(egressesOf(model, call), id);
};

const EGRESS_IDS = ["e1", "e2", "e3"];

const anEgressKey: Path = ({ chance, organization_id }) => ({
  organization_id,
  egress_id: chance.pick(EGRESS_IDS),
});

const NOBODY = required(kind(() => "nobody", ["x".repeat(256)]));

const anEgressId = ({ chance, model: { egresses } }: Choice) => String(egresses.at(chance.below(3))?.id ?? 0);

const aFile = kind(
  ({ chance, model, organization_id, hasFaults }) => {
    const { slug } = model.organizations.find(({ id }) => id === organization_id) ?? { slug: "" };
    return `${hasFaults && chance.is(0.2) ? "other" : slug}/${chance.pick(["1", "2", "3"])}.mp4`;
  },
  ["", "a//b", 5],
);

export const RESULTS: Operations = {
  ...textOperations("soap_note", { text: usual(NOTE), is_final: usual(BOOLEAN) }, { text: required(NOTE) }),
  ...textOperations(
    "transcript",
    { summary: nullable(multiline(["A greeting.", ""], [5])), is_final: usual(BOOLEAN), lines: usual(LINES) },
    { summary: multiline(["A longer greeting."], [5]), lines: list(aLine, 0, 10_000, 1) },
  ),
  "external GET /egresses": {
    isRecorded: true,
    query: {
      ...RANGE,
      after: { ...numeral([], ["x", "-1"]), make: anEgressId },
      ...PER_PAGE,
    },
    play(model, { caller, query }) {
      const { after = 0, per_page = 25 } = query;
      const calls = callsOf(model, caller);
      const shown = model.egresses
        .filter(({ call }) => calls.includes(call) && isVisible(model, call))
        .filter(({ id, call }) => (id === 0 || id > after) && isWithin(query, call.started_at))
        .map((egress) => ({
          ...shownEgress(egress),
          call_id: egress.call.id,
          organization_user_id: egress.call.owner.id,
        }));
      const next_after = shown.length > per_page ? ANYTHING : null;
      return { egresses: shown.slice(0, per_page), next_after };
    },
  },
  [`external GET ${CALL_PATH}/egresses`]: {
    query: PAGE,
    play(model, request) {
      const call = callOf(model, request);
      const shown = isVisible(model, call) ? egressesOf(model, call).map(shownEgress) : [];
      return { egresses: portion(shown, request) };
    },
  },
  [`external GET ${CALL_PATH}/egresses/{id}`]: {
    isRecorded: true,
    path: anEgress,
    play(model, request) {
      const egress = egressOf(model, request);
      if (!isVisible(model, egress.call)) found(undefined);
      logEvent(model, egress, "read", request.caller.member.id, null);
      const hasFile = egress.storage_key !== null && egress.status !== "egress_deleted";
      return { ...shownEgress(egress), url: hasFile ? ANYTHING : null };
    },
  },
  [`external DELETE ${CALL_PATH}/egresses/{id}`]: {
    roles: ["organization_admin"],
    path: anEgress,
    play: (model, request) => deleteEgress(model, egressOf(model, request), request.caller.member.id),
  },
  [`external GET ${CALL_PATH}/egresses/{egress_id}/audit_logs`]: {
    path: anEgress,
    query: { ...PAGE, ...RANGE, event: oneOf(["create", "update", "read"], ["delete"]) },
    play(model, request) {
      const egress = egressOf(model, request, request.path.egress_id);
      if (egress.call.ended_at === null) found(undefined);
      const entries = egress.log
        .filter(matches(request.query, ({ event }) => ({ event })))
        .filter(({ created_at }) => isWithin(request.query, Date.parse(created_at)));
      return page("audit_logs", entries.reverse(), request, (entry) => ({ ...entry, id: idOf(entry) }));
    },
  },
  "external DELETE /participants": {
    status: 200,
    roles: ["organization_admin"],
    query: { external_reference: NOBODY, texts: oneOf(["true", "false"], ["yes"]) },
    play: () => ({ erased_count: 0, held_count: 0, ongoing_count: 0, remaining_count: 0 }),
  },
  "external GET /participants/export": {
    roles: ["organization_admin"],
    isRecorded: true,
    query: { external_reference: NOBODY },
    // The model has no access log, whose entries about earlier exports are in the body.
    play: () => ANYTHING,
  },
  "platform PUT /organizations/{organization_id}/egresses/{egress_id}": {
    path: anEgressKey,
    body: resource("egress", {
      call_key: usual(someOf(KEYS, ["", 5])),
      status: usual(oneOf([...STATUSES, "egress_ended", "egress_ended"], ["egress_deleted", "begun"])),
      is_stopped: nullable(BOOLEAN),
      error: nullable(multiline(["The disk is full."])),
      ended_at: nullable(past([0, 5])),
      duration: nullable(someOf([1.5, 60], [-1, "1"])),
      size: nullable(someOf([1, 2000], [-1, 1.5])),
      storage_key: nullable(aFile),
      user_id: nullable(MEMBER),
    }),
    play: (model, request) => shownEgress(reportEgress(model, request)),
  },
  "platform DELETE /organizations/{organization_id}/egresses/{egress_id}": {
    path: anEgressKey,
    play(model, request) {
      const egresses = ownedBy(organizationOf(model, request), model.egresses);
      const egress = egresses.find(({ egress_id }) => egress_id === request.path.egress_id);
      return deleteEgress(model, found(egress), null);
    },
  },
};
