import { DAY } from "../../src/units.ts";
import { tokenOf } from "../simulator/sign_in.ts";
import { NAMES } from "./kinds.ts";

export type Role = "provider_assistant" | "provider" | "organization_admin";

interface Times {
  created_at: number;
  updated_at: number;
}

interface Owned {
  id: number;
  organization: Organization;
}

type Row = Owned & Times;

export interface Organization extends Times {
  id: number;
  name: string;
  slug: string;
  /** The name that the platform chose, which participants see. */
  mail_name: string;
  recording_retention_days: number | null;
  transcript_retention_days: number | null;
  participant_retention_days: number | null;
  require_acting_user: boolean;
  time_zone: string | null;
  patient_identifier_system: string | null;
  is_suspended: boolean;
}

export interface Member extends Owned {
  email: string | null;
  display_name: string;
  /** None once the membership has ended. */
  roles: Role[];
  assists: number[];
}

export interface Room extends Row {
  owner: Member | null;
  name: string;
  slug: string;
  theme: string;
  is_active: boolean;
  is_retired: boolean;
}

export interface Sub extends Row {
  room: Room;
  user: Member | null;
  datetime_start: number;
  datetime_end: number;
}

interface Person {
  id: number;
  role: string;
  display_name: string;
  user_id: number | null;
  external_reference: string | null;
}

export interface Visit extends Row {
  room: Room;
  holder: Member | null;
  external_reference: string | null;
  status: "planned" | "cancelled";
  starts_at: number;
  ends_at: number;
  participants: Person[];
  lastParticipant: number;
}

export interface Participant extends Person, Owned {
  key: string;
  room: Room;
  call: Call | null;
  /** The fields that the organization has set, which reports do not change. */
  said: string[];
  waiting_since: number | null;
  left_at: number | null;
  consents: Consent[];
}

interface Consent {
  id: number;
  /** When it was reported, which orders two decisions of the same time. */
  order: number;
  decision: "granted" | "refused";
  decided_at: number;
  said_at: number | null;
  method: string | null;
  reported_at: number;
}

interface Hold {
  reason: string | null;
  began_at: number;
  begun_by: "platform" | "organization";
}

export interface Call extends Owned {
  key: string;
  room: Room;
  owner: Member;
  started_at: number;
  ended_at: number | null;
  failed: boolean;
  external_reference: string | null;
  /** Whether the organization has set the reference. */
  isOwnReference: boolean;
  hold: Hold | null;
  /** Whether a hold of the platform has ended, so that no undated report begins another one. */
  hasEndedHold: boolean;
  texts: Record<"transcript" | "soap_note", CallText | null>;
  /** Texts that were deleted, and cannot be reported again. */
  deleted: Set<string>;
}

export interface Line {
  id: number;
  participant_key: string;
  text: string;
  start_time: number;
  end_time: number;
}

interface Content {
  text: string | null;
  summary: string | null;
  lines: Line[];
}

interface Version extends Content {
  version: number;
  reason: string;
  user_id: number;
  created_at: number;
}

/** A transcript or a SOAP note. */
export interface CallText extends Content {
  id: number;
  /** The lines as they were reported, before corrections. */
  reportedLines: Line[];
  is_final: boolean;
  versions: Version[];
}

export interface Egress extends Row {
  call: Call;
  egress_id: string;
  status: string;
  error: string | null;
  is_stopped: boolean;
  ended_at: number | null;
  /** An end that was reported before the recording has ended. */
  early: number | null;
  duration: number | null;
  size: number | null;
  storage_key: string | null;
  log: { id: number; event: string; user_id: unknown; object_changes: object | null; created_at: string }[];
}

export interface Endpoint extends Row {
  /** The member who is responsible for it. */
  creator: Member;
  url: string;
  event_types: string[] | null;
  is_active: boolean;
  disabled_reason: string | null;
  rotatedAt: number[];
}

export interface Client extends Row {
  member: Member;
  name: string;
  scopes: string[] | null;
  expires_at: number | null;
  client_id: string;
  client_secret: string;
  revoked_at: number | null;
}

export interface Invite extends Row {
  creator: Member;
  email: string;
  display_name: string;
  roles: Role[];
  returning: Member | null;
  expires_at: number;
  used_at: number | null;
  resent_at: number | null;
}

interface BulkInvite extends Row {
  creator: Member;
  rows: { email: string; roles: Role[]; isFailed: boolean }[];
}

export interface Issuer extends Row {
  issuer: string;
  audience: string;
  jwks_url: string;
  require_verified_email: boolean;
}

interface Claims {
  iss: string;
  aud: string;
  email: string;
}

/** Everything that the service remembers, as plain lists. */
export class Model {
  /** The time of the request, as the story tells it. */
  now = 0;
  readonly organizations: Organization[] = [];
  readonly members: Member[] = [];
  readonly clients: Client[] = [];
  readonly rooms: Room[] = [];
  /** Slugs that a room has or had, each with the room. */
  readonly slugs = new Map<string, Room>();
  readonly subs: Sub[] = [];
  readonly visits: Visit[] = [];
  readonly participants: Participant[] = [];
  readonly calls: Call[] = [];
  readonly egresses: Egress[] = [];
  readonly endpoints: Endpoint[] = [];
  /** Files, each with the recording that named it. */
  readonly files = new Map<string, string>();
  /** Links of visits, by their token. */
  readonly visitLinks = new Map<string, { visit: Visit; participant: number }>();
  /** Where lists continue, as the service said. */
  readonly positions: string[] = [];
  invites: Invite[] = [];
  readonly bulkInvites: BulkInvite[] = [];
  /** Links of invites, by their token. */
  readonly links = new Map<string, { invite: Invite; resent_at: number | null }>();
  /** The number of mails, by organization, address and day. */
  readonly mails = new Map<string, number>();
  readonly issuers: Issuer[] = [];
  readonly tokens = new Map<string, Claims & { expires_at: number }>();
  readonly codes: { code: string; member: Member; expires_at: number; isUsed: boolean }[] = [];

  /** A token of the identity provider, which the service has not seen yet. */
  signToken(claims: Claims): string {
    const token = tokenOf(claims, this.now);
    const expires_at = Math.floor(this.now / 1000) * 1000 + 3_600_000;
    this.tokens.set(token, { ...claims, expires_at });
    return token;
  }

  /** The personal room of a provider. */
  personalRoomOf = (member: Member): Room | undefined =>
    this.rooms.find(({ owner, is_retired }) => owner === member && !is_retired);

  waitingIn = (room: Room): Participant[] =>
    this.participants.filter((each) => each.room === room && each.call === null && each.left_at === null);

  leaveRoom(room: Room): void {
    for (const each of this.waitingIn(room)) each.left_at = this.now;
  }

  isInUse = (room: Room): boolean =>
    this.participants.some((each) => each.room === room && each.left_at === null) ||
    this.calls.some((call) => call.room === room && call.ended_at === null);

  requireNotSuspended({ is_suspended }: Organization): void {
    if (is_suspended) throw new Refusal(403, "organization_suspended");
  }

  /** A slug that no room ever had. */
  newSlug(organization: Organization, name: string): string {
    const slug = `${organization.slug}--${NAMES[name] ?? NAMES[` ${name} `] ?? name.toLowerCase().replaceAll(" ", "-")}`;
    if (!this.slugs.has(slug)) return slug;
    const numbers = [...this.slugs.keys()].flatMap((taken) => {
      const [, number] = taken.startsWith(`${slug}-`)
        ? (/^([1-9]\d{0,5})$/.exec(taken.slice(slug.length + 1)) ?? [])
        : [];
      return number ? [Number(number)] : [];
    });
    return `${slug}-${Math.max(1, ...numbers) + 1}`;
  }
}

/** The caller of a request. The platform has neither a member nor limits. */
export interface Caller {
  organization: Organization;
  member: Member;
  client: Client;
}

// biome-ignore lint/suspicious/noExplicitAny: an operation knows what it has validated
export type Input = any;

export interface Request {
  caller: Caller;
  path: Record<string, string>;
  query: Input;
  /** The body as the service reads it. */
  body: Input;
  /** The body as it was sent. */
  sent: Input;
}

/** A value that the service generates: the model learns it from the answer. */
export class Learned {
  readonly learn: (value: never) => void;

  constructor(learn: (value: never) => void = () => {}) {
    this.learn = learn;
  }
}

/** A value that the contract does not fix. */
export const ANYTHING = new Learned();

/** The id of a row, which the first answer that shows it tells. */
export const idOf = (row: { id: number }) =>
  row.id === 0
    ? new Learned((id: number) => {
        row.id = id;
      })
    : row.id;

export interface Answer {
  status: number;
  body?: unknown;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

export const notFound = () => new Refusal(404, "not_found");

export const unprocessable = (code: string) => new Refusal(422, code);

export const invalid = () => unprocessable("validation_failed");

/** @throws Refusal 404 if the thing is undefined */
export function found<Thing>(thing: Thing | undefined): Thing {
  if (!thing) throw notFound();
  return thing;
}

/** The fields of a new row. */
export const newRow = ({ now }: Model) => ({ id: 0, created_at: now, updated_at: now });

/** The things of an organization. */
export const ownedBy = <Thing extends { organization: Organization }>(
  organization: Organization,
  things: readonly Thing[],
): Thing[] => things.filter((thing) => thing.organization === organization);

/** @throws Refusal 404 if none has the id */
export const withId = <Thing extends { id: number }>(things: readonly Thing[], id: unknown): Thing =>
  found(things.find((thing) => thing.id === Number(id)));

export const timestamp = (milliseconds: number) => new Date(milliseconds).toISOString();

export const timestampOrNull = (milliseconds: number | null) =>
  milliseconds === null ? null : timestamp(milliseconds);

/** A row as an answer shows it: its id, the fields with these names, and others. */
export function view(row: { id: number }, names: string, more: object = {}) {
  const fields = names.split(" ").map((name) => {
    const value = (row as Input)[name];
    return [name, /_(at|since)$|^datetime_/.test(name) ? timestampOrNull(value) : value];
  });
  return { id: idOf(row), ...Object.fromEntries(fields), ...more };
}

/** Whether a thing has the values for which the query asks. A list has each of its values. */
export const matches =
  <Thing>(query: Input, valuesOf: (thing: Thing) => Record<string, unknown>) =>
  (thing: Thing): boolean =>
    Object.entries(valuesOf(thing)).every(
      ([name, value]) => query[name] === undefined || [value].flat().includes(query[name]),
    );

/** Whether a time is on the days for which the query asks. */
export const isWithin = ({ from, to }: Input, time: number): boolean =>
  (from === undefined || time >= Date.parse(from)) && (to === undefined || time < Date.parse(to) + DAY);

/** A list that is one page by default. */
export const portion = <Item>(
  items: readonly Item[],
  { query: { page = 1, per_page = items.length } }: Pick<Request, "query">,
): Item[] => items.slice((page - 1) * per_page, page * per_page);

/** The contract's list: a page, and its envelope. */
export function page<Item>(
  name: string,
  items: readonly Item[],
  { query: { page: current_page = 1, per_page = 25 } }: Request,
  shown: (item: Item) => unknown,
) {
  const total_count = items.length;
  const pagination = { current_page, per_page, total_pages: Math.ceil(total_count / per_page), total_count };
  return { [name]: portion(items, { query: { page: current_page, per_page } }).map(shown), pagination };
}

/** A list in the order of a time. It continues after a position: a time and an id. */
export function pageAfter<Item extends { id: number }>(
  name: string,
  items: readonly Item[],
  { model, query, isDescending }: { model: Model; query: Input; isDescending?: boolean },
  timeOf: (item: Item) => number,
  shown: (item: Item) => unknown,
) {
  const { per_page = 25, after } = query;
  const order = (one: number[], other: number[]) =>
    ((one[0] as number) - (other[0] as number) || (one[1] as number) - (other[1] as number)) *
    (isDescending ? -1 : 1);
  const positionOf = (item: Item) => [timeOf(item), item.id];
  const found = items
    .filter((item) => isWithin(query, timeOf(item)))
    .filter((item) => !after || order(positionOf(item), after.split(".").map(Number)) > 0)
    .sort((one, other) => order(positionOf(one), positionOf(other)));
  const next_after = found.length > per_page ? positionOf(found[per_page - 1] as Item).join(".") : null;
  if (next_after) model.positions.push(next_after);
  return { [name]: found.slice(0, per_page).map(shown), next_after };
}

export const dateOf = (time: number) => timestamp(time).slice(0, 10);

/** @throws Refusal 422 if the body has another value for a field that the operation does not change */
export function requireUnchanged(sent: Record<string, unknown>, shown: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(shown)) {
    const other = sent[name];
    const isSame =
      typeof value === "object" && value !== null && typeof other === "object"
        ? JSON.stringify(value) === JSON.stringify(other)
        : other === value;
    if (other !== undefined && other !== null && !isSame) throw unprocessable("field_not_changeable");
  }
}
