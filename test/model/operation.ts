import { type Choice, type Fields, type Kind, kind } from "./kinds.ts";
import type { Model, Organization, Request, Role } from "./model.ts";

export interface Operation {
  /** The part of the external API whose scope a client needs. */
  area?: string | null;
  /** The roles of which the caller needs one. */
  roles?: Role[];
  query?: Fields;
  /** Checks that the parameters of the query fit together. */
  isSound?: (query: never) => boolean;
  /** The body, with the key under which the resource is. */
  body?: Kind;
  /** Values of the path that belong together, or that the name of the parameter does not determine. */
  path?: (choice: Choice) => Record<string, string | number | undefined>;
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

/** Mostly a thing of the caller's own organization. */
export function pickOwned<Thing extends Owned>(choice: Choice, things: readonly Thing[]): Thing | undefined {
  const { chance, organization_id, hasFaults } = choice;
  const known = things.filter((thing) => !("id" in thing) || thing.id !== 0);
  const own = known.filter(({ organization }) => organization.id === organization_id);
  const from = hasFaults && chance.is(0.1) ? known : own;
  return from.length > 0 ? chance.pick(from) : undefined;
}

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;

/** An id in a body. */
export const bodyId = (things: (model: Model) => readonly (Owned & { id: number })[]): Kind =>
  kind((choice) => pickOwned(choice, things(choice.model))?.id ?? 999_999, [0, -1, 1.5, "1"], isId);

/** An id in a query. */
export const queryId = (things: (model: Model) => readonly (Owned & { id: number })[]): Kind =>
  kind(
    (choice) => String(pickOwned(choice, things(choice.model))?.id ?? 999_999),
    ["0", "-1", "one"],
    undefined,
    Number,
  );

const POSITIVE = kind(
  ({ chance }) => chance.pick(["1", "2", "3", "0025", "400"]),
  ["0", "-1", "x"],
  undefined,
  Number,
);

export const PAGE: Fields = {
  page: POSITIVE,
  per_page: { ...POSITIVE, read: (value: string) => Math.min(Number(value), 100) },
};

export const TRUE_OR_FALSE = kind(
  ({ chance }) => chance.pick(["true", "false"]),
  ["yes"],
  undefined,
  (value) => value === "true",
);

/** A day, some days from now. */
export const DAY = kind(
  ({ chance, model }) =>
    new Date(model.now + chance.pick([0, 0, 1, -1, 7]) * 86_400_000).toISOString().slice(0, 10),
  ["yesterday", "2026-02-30", "2026-01-31T00:00:00Z"],
);

/** Where a list continues. */
export const AFTER: Fields = {
  after: kind(
    ({ chance, model }) => (model.positions.length > 0 ? chance.pick(model.positions) : "0.0"),
    ["x", "1"],
  ),
  per_page: PAGE.per_page as Kind,
};

export const RANGE: Fields = { from: DAY, to: DAY };

export const isInOrder = ({ from, to }: { from?: string; to?: string }) => !from || !to || from <= to;

export const referenceOf = (values: readonly string[]) =>
  kind(({ chance }) => chance.pick(values), ["", "x".repeat(256)]);
