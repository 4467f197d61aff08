import type { Chance } from "../support/chance.ts";
import type { Model } from "./model.ts";

/** The random choices of a story. A story without faults sends only valid requests, so it is what a failing one shrinks to. */
export interface Choice {
  chance: Chance;
  hasFaults: boolean;
  model: Model;
  /** The organization of the caller, whose things are named most often. */
  organization_id: number;
}

/** A value of a request: how to make one, which values are refused, and what the service reads from a valid one. */
export interface Kind {
  make: (choice: Choice) => unknown;
  bad: readonly unknown[];
  accepts: (value: unknown) => boolean;
  read: (value: never) => unknown;
  isRequired?: boolean;
  isNullable?: boolean;
  /** Whether most requests have the field. */
  isUsual?: boolean;
  /** Whether the field must be absent. */
  isNever?: boolean;
}

const same = (value: unknown) => value;

export const kind = (
  make: Kind["make"],
  bad: readonly unknown[],
  accepts: Kind["accepts"] = (value) => !bad.includes(value),
  read: Kind["read"] = same,
): Kind => ({ make, bad, accepts, read });

export const required = (of: Kind): Kind => ({ ...of, isRequired: true });

/** A field that most requests have. */
export const usual = (of: Kind): Kind => ({ ...of, isUsual: true });

/** A field in which null is a value, and does not mean that the field is left out. */
export const nullable = (of: Kind): Kind => ({ ...of, isNullable: true });

/** A field that must not be present, with any value. */
export const NEVER: Kind = {
  ...kind(
    () => undefined,
    [null, "mine"],
    () => false,
  ),
  isNever: true,
};

const pickOf =
  (values: readonly unknown[]) =>
  ({ chance }: Choice) =>
    chance.pick(values);

/** One of these values. The service accepts every value that is not bad. */
export const someOf = (values: readonly unknown[], bad: readonly unknown[], read = same as Kind["read"]) =>
  kind(pickOf(values), bad, undefined, read);

export const oneOf = (values: readonly unknown[], bad: readonly unknown[] = ["nothing", 1]): Kind =>
  kind(pickOf(values), bad, (value) => values.includes(value));

export const BOOLEAN = oneOf([true, false], ["true", 1]);

export const text = (
  max: number,
  values: readonly string[],
  bad: readonly unknown[] = ["", " \u200b", "x".repeat(max + 1), "a\nb", 5, {}],
): Kind => someOf(values, bad, (value: string) => value.trim());

/** Text that is compared exactly. */
export const verbatim = (...of: Parameters<typeof text>): Kind => ({ ...text(...of), read: same });

/** A number in a query. */
export const numeral = (values: readonly string[], bad: readonly string[]): Kind =>
  someOf(values, bad, Number);

/** Names, each with what is left of it in a slug. */
export const NAMES: Record<string, string> = {
  Cardiology: "cardiology",
  "Dr. Ann Lee": "dr-ann-lee",
  " Room 2 ": "room-2",
  Room: "room",
  日本: "room",
};

export const NAME = text(255, Object.keys(NAMES), ["", "x".repeat(256), "a\nb", "a\u202eb", 5]);

export const EMAILS = ["ann@example.com", "Bob@Example.com ", "cy@example.com"];

export const lowerCase = (value: string) => value.trim().toLowerCase();

export const EMAIL = someOf(EMAILS, ["", "ann", "ann@", `${"x".repeat(252)}@a.b`, 5], lowerCase);

/** An email address in a query. */
export const SEARCHED_EMAIL = someOf(EMAILS, ["", "ann"], lowerCase);

/** A time, which is made from the time of the request. */
export const time = (make: (now: number, chance: Chance) => number, bad: readonly unknown[]): Kind =>
  kind(
    ({ chance, model }) => new Date(make(model.now, chance)).toISOString(),
    bad,
    undefined,
    (value: string) => Date.parse(value),
  );

export const list = (of: Kind, min: number, max: number, most = 2): Kind =>
  kind(
    (choice) => Array.from({ length: Math.max(min, choice.chance.below(most + 1)) }, () => of.make(choice)),
    ["nothing", ...(min > 0 ? [[]] : []), ...of.bad.slice(0, 2).map((bad) => [bad])],
    (value) =>
      Array.isArray(value) &&
      value.length >= min &&
      value.length <= max &&
      value.every((each) => of.accepts(each)),
    (value: never[]) => value.map(of.read),
  );

export type Fields = Record<string, Kind>;

/** @param isSound what the fields must be together */
export function object(fields: Fields, isSound: (read: never) => boolean = () => true): Kind {
  const read = (value: Record<string, unknown>) => {
    const given = Object.entries(fields).filter(([name, { isNullable }]) => {
      const sent = value[name];
      return sent !== undefined && (sent !== null || isNullable);
    });
    return Object.fromEntries(
      given.map(([name, { read }]) => [name, value[name] === null ? null : read(value[name] as never)]),
    );
  };
  return kind(
    (choice) => {
      const { chance, hasFaults } = choice;
      const isLeftOut = ({ isRequired, isUsual }: Kind) =>
        chance.is(isRequired ? (hasFaults ? 0.05 : 0) : isUsual ? 0.1 : 0.6);
      const entries = Object.entries(fields).flatMap(([name, field]) => {
        if (isLeftOut(field)) return [];
        if (field.isNever && !(hasFaults && chance.is(0.05))) return [];
        if (hasFaults && field.bad.length > 0 && chance.is(0.05)) return [[name, chance.pick(field.bad)]];
        return [[name, chance.is(0.1) && !field.isRequired && !field.isUsual ? null : field.make(choice)]];
      });
      return Object.fromEntries(entries);
    },
    ["nothing", []],
    (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
      const sent = value as Record<string, unknown>;
      const areValid = Object.entries(fields).every(([name, field]) =>
        sent[name] === undefined || (sent[name] === null && !field.isNever)
          ? !field.isRequired || (sent[name] === null && field.isNullable)
          : field.accepts(sent[name]),
      );
      return areValid && isSound(read(sent) as never);
    },
    read,
  );
}

/** A body: the fields of a resource, under its name. */
export const resource = (name: string, fields: Fields, isSound?: (read: never) => boolean): Kind =>
  object({ [name]: required(object(fields, isSound)) });
