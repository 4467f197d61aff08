import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unprocessable } from "../../../src/http/errors.ts";
import {
  correctPerson,
  mergePerson,
  newPerson,
  type SaidOfPerson,
} from "../../../src/rooms/people/people.merge.ts";
import type { Person, PersonRow } from "../../../src/rooms/people/people.sql.ts";

const refused = () => unprocessable("names_erased", "Refused");

const FIELDS = ["display_name", "role", "user_id", "external_reference"] as const;

const RITA = { organization_id: 1, display_name: "Rita", role: "recipient" } as const;

/** Each reporter has its own values. */
const valuesOf = (by: string) =>
  fc.record(
    {
      display_name: fc.constantFrom(`${by} 1`, `${by} 2`),
      role: fc.constantFrom("recipient" as const, "provider" as const),
      user_id: fc.constantFrom(null, 1, 2),
      external_reference: fc.constantFrom(null, `${by}-1`, `${by}-2`),
    },
    { requiredKeys: [] },
  );

const step = fc.oneof(
  fc.record({
    by: fc.constant("platform" as const),
    said: valuesOf("platform"),
    at: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({
    by: fc.constant("observer" as const),
    said: valuesOf("observer"),
    at: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ by: fc.constant("organization" as const), said: valuesOf("organization"), at: fc.constant(0) }),
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const known = (row: PersonRow): Person => ({ ...row, id: row.id ?? 1 });

function take(person: Person, { by, said, at }: Step, now: number): Person {
  if (by === "organization") return correctPerson(person, said, now, { saysNull: true, erased: refused });
  const late = at < person.reported_at;
  const origin = { reporter: by, reported_at: at, organization_id: 1, late };
  return known(mergePerson(person, said, origin, now, refused));
}

const allOf = (steps: Step[], person = known(newPerson(RITA, 0))) =>
  steps.reduce((before, each, n) => take(before, each, n + 1), person);

const every = (check: (steps: Step[]) => void) =>
  fc.assert(fc.property(fc.array(step, { maxLength: 10 }), check), { numRuns: 2000 });

describe("A person's record, in any order of reports and corrections,", () => {
  it("has each field as the organization last said it", () => {
    every((steps) => {
      const person = allOf(steps);
      for (const field of FIELDS) {
        const said = steps.findLast(({ by, said }) => by === "organization" && said[field] !== undefined);
        if (said) expect(person[field]).toBe(said.said[field]);
      }
    });
  });

  it("changes by LiveKit's reports only in fields that nobody else has said", () => {
    every((steps) => {
      let person = known(newPerson(RITA, 0));
      for (const [n, each] of steps.entries()) {
        const next = take(person, each, n + 1);
        if (each.by === "observer")
          for (const field of FIELDS) if (person[field] !== null) expect(next[field]).toBe(person[field]);
        person = next;
      }
    });
  });

  it("stays as it is if what was said last is said again", () => {
    every((steps) => {
      const person = allOf(steps);
      const last = steps.at(-1);
      if (last) expect({ ...take(person, last, 99), updated_at: 0 }).toEqual({ ...person, updated_at: 0 });
    });
  });

  it("stays erased: no report changes it, and a correction that would is refused", () => {
    every((steps) => {
      const erased = { ...allOf(steps), display_name: "Participant", external_reference: null, erased_at: 5 };
      for (const [n, each] of steps.entries())
        if (each.by === "organization") {
          const isSame = FIELDS.every((field) => (each.said[field] ?? erased[field]) === erased[field]);
          const isNull = each.said.user_id === null && erased.user_id !== null;
          if (isSame && !isNull) expect(take(erased, each, n)).toBe(erased);
          else expect(() => take(erased, each, n)).toThrow("Refused");
        } else expect(take(erased, each, n)).toEqual(erased);
    });
  });
});

describe("The organization's null", () => {
  it.each<[SaidOfPerson, { saysNull: boolean }, string | null]>([
    [{ external_reference: null }, { saysNull: false }, null],
    [{ external_reference: null }, { saysNull: true }, "external_reference"],
    [{ external_reference: "patient-1" }, { saysNull: false }, "external_reference"],
    [{}, { saysNull: true }, null],
  ])("%o counts as said if %o: %s", (update, { saysNull }, said) => {
    const person = correctPerson(newPerson(RITA, 0), update, 1, { saysNull, erased: refused });
    expect(person.said).toBe(said);
    const report = { external_reference: "reported" };
    const origin = { reporter: "platform" as const, organization_id: 1, late: false };
    const reported = mergePerson(known(person), report, origin, 2, refused);
    expect(reported.external_reference).toBe(
      said === null ? "reported" : (update.external_reference ?? null),
    );
  });
});
