import { DAY } from "../../src/units.ts";
import { type Choice, type Fields, type Kind, kind, numeral, someOf } from "./kinds.ts";
import { dateOf, type Model, type Organization, type Request, type Role } from "./model.ts";

export type Path = (choice: Choice) => Record<string, string | number | undefined>;

export interface Operation {
  /** The part of the external API whose scope a client needs. */
  area?: string | null;
  /** The roles of which the caller needs one. */
  roles?: Role[];
  query?: Fields;
  /** The body, with the key under which the resource is. */
  body?: Kind;
  /** Values of the path that belong together, or that the name of the parameter does not determine. */
  path?: Path;
  /** Whether a client's rights may change, which takes a minute to be noticed. */
  changesRights?: boolean;
  /** Whether the access log records the read, so that an organization can require the acting headers. */
  isRecorded?: boolean | ((query: Request["query"]) => boolean);
  /** The status of its success: by default, 201 for a POST, 204 for a DELETE, and otherwise 200. */
  status?: number;
  /**
   * Returns the body.
   *
   * @throws Refusal
   */
  play: (model: Model, request: Request) => unknown;
}

export type Operations = Record<string, Operation>;

/** The scope that a request needs for this area. */
export function scopeOf(area: string | null, method: string): string | null {
  if (area === null || area === "sign_in" || area.includes(":")) return area;
  return `${area}:${method === "GET" ? "read" : "write"}`;
}

interface Owned {
  organization: Organization;
}

type Things = (model: Model) => readonly (Owned & { id: number })[];

/** Mostly a thing of the caller's own organization. */
export function pickOwned<Thing extends Owned>(choice: Choice, things: readonly Thing[]): Thing | undefined {
  const { chance, organization_id, hasFaults } = choice;
  const known = things.filter((thing) => !("id" in thing) || thing.id !== 0);
  const own = known.filter(({ organization }) => organization.id === organization_id);
  const from = hasFaults && chance.is(0.1) ? known : own;
  return from.length > 0 ? chance.pick(from) : undefined;
}

/** Mostly a slug that a room of the organization has or had. */
export function anySlug(choice: Choice): string {
  const rooms = [...choice.model.slugs].map(([slug, { organization }]) => ({ slug, organization }));
  return pickOwned(choice, rooms)?.slug ?? "nowhere--room";
}

/** The path of mostly an own thing. */
export const pathOf =
  (things: Things): Path =>
  (choice) => ({ id: pickOwned(choice, things(choice.model))?.id });

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;

const idIn = (things: Things) => (choice: Choice) => pickOwned(choice, things(choice.model))?.id ?? 999_999;

/** An id in a body. */
export const bodyId = (things: Things): Kind => kind(idIn(things), [0, -1, 1.5, "1"], isId);

/** An id in a query. */
export const queryId = (things: Things): Kind =>
  kind((choice) => String(idIn(things)(choice)), ["0", "-1", "one"], undefined, Number);

/** The id of a member in a body. */
export const MEMBER = bodyId(({ members }) => members);

const POSITIVE = numeral(["1", "2", "3", "0025", "400"], ["0", "-1", "x"]);

export const PER_PAGE: Fields = {
  per_page: { ...POSITIVE, read: (value: string) => Math.min(Number(value), 100) },
};

export const PAGE: Fields = { page: POSITIVE, ...PER_PAGE };

export const TRUE_OR_FALSE = someOf(["true", "false"], ["yes"], (value) => value === "true");

/** A day, some days from now. */
export const DATE = kind(
  ({ chance, model }) => dateOf(model.now + chance.pick([0, 0, 1, -1, 7]) * DAY),
  ["yesterday", "2026-02-30", "2026-01-31T00:00:00Z"],
);

/** Where a list continues. */
export const AFTER: Fields = {
  after: kind(
    ({ chance, model }) => (model.positions.length > 0 ? chance.pick(model.positions) : "0.0"),
    ["x", "1"],
  ),
  ...PER_PAGE,
};

/** Two days, in their order. */
export const RANGE: Fields = { from: DATE, to: DATE };

export const referenceOf = (values: readonly string[]) => someOf(values, ["", "x".repeat(256)]);
