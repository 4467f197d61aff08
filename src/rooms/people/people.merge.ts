import type { ApiError } from "../../http/errors.ts";
import { isLate, type ReportOrigin, reviseReported, stillUnknown } from "../report.ts";
import type { Person, PersonRow } from "./people.sql.ts";

const FIELDS = ["display_name", "role", "user_id", "external_reference"] as const;

type PersonField = (typeof FIELDS)[number];

export type SaidOfPerson = { [Field in PersonField]?: Person[Field] | undefined };

const namesIn = (names: string | null | undefined) => names?.split(",") ?? [];

const textOf = (names: readonly string[]) => names.join(",") || null;

/** The fields that reports have cleared, as the column stores them. A reported value takes a field off the list. */
export function clearedBy(
  clearable: string[],
  known: { cleared: string | null } | undefined,
  report: object,
) {
  const before = namesIn(known?.cleared);
  const isCleared = (field: string, said: unknown) =>
    said === undefined ? before.includes(field) : said === null;
  return textOf(clearable.filter((field) => isCleared(field, report[field as keyof typeof report])));
}

export function unknownFields<Report extends object>(
  known: { cleared?: string | null; assumed?: string | null },
  report: Report,
): Partial<Report> {
  const each = (names: string | null | undefined, value: unknown) =>
    Object.fromEntries(namesIn(names).map((field) => [field, value]));
  return stillUnknown({ ...known, ...each(known.cleared, "cleared"), ...each(known.assumed, null) }, report);
}

/** The record of a new person. Fields that are left out are not known. */
export const newPerson = (
  fields: Partial<PersonRow> & Pick<PersonRow, "organization_id" | "display_name" | "role">,
  now: number,
): PersonRow => ({
  visit_id: null,
  number: null,
  user_id: null,
  external_reference: null,
  said: null,
  cleared: null,
  assumed: null,
  reported_at: 0,
  erased_at: null,
  created_at: now,
  updated_at: now,
  ...fields,
});

const fieldsOf = (said: SaidOfPerson): SaidOfPerson =>
  Object.fromEntries(
    FIELDS.filter((field) => said[field] !== undefined).map((field) => [field, said[field]]),
  );

/**
 * Applies a report to a person's record. Fields that the organization has set stay, and an erased person stays erased. A late report, and
 * an observer's, only fill in unknown fields.
 *
 * @param late whether the report was made before the newest one about the participant
 * @throws what `incomplete` returns, if a new person has no name or role
 */
export function mergePerson(
  known: Person | undefined,
  { assumed, ...report }: SaidOfPerson & { assumed?: string | null | undefined },
  { organization_id, late, ...origin }: ReportOrigin & { organization_id: number; late: boolean },
  now: number,
  incomplete: () => ApiError,
): PersonRow {
  if (known && known.erased_at !== null) return known;
  const fields = fieldsOf(report);
  const open = Object.fromEntries(
    Object.entries(fields).filter(([field]) => !namesIn(known?.said).includes(field)),
  ) as SaidOfPerson;
  const onlyFills = known && (late || isLate(origin, known) || origin.reporter === "observer");
  const said = onlyFills ? unknownFields(known, open) : open;
  const { display_name, role, user_id = null, external_reference = null } = { ...known, ...said };
  if (display_name === undefined || role === undefined) throw incomplete();
  if (known && Object.keys(said).length === 0) return known;
  const stillAssumed = namesIn(known?.assumed).filter((field) => said[field as PersonField] === undefined);
  const next = {
    display_name,
    role,
    user_id,
    external_reference,
    cleared: clearedBy(["user_id", "external_reference"], known, said),
    assumed: assumed ?? textOf(stillAssumed),
  };
  const fieldsOfNext = known ? next : newPerson({ ...next, organization_id }, now);
  return reviseReported<Person, Partial<Person>>(known, fieldsOfNext, origin, now) as PersonRow;
}

/**
 * Applies what the organization says of a person: it stays, whatever reports say.
 *
 * @param known the record, or a new one
 * @param saysNull whether null also counts where nothing is known
 * @throws what `erased` returns, if the person was erased and something would change
 */
export function correctPerson<Known extends PersonRow>(
  known: Known,
  update: SaidOfPerson,
  now: number,
  { saysNull = false, erased }: { saysNull?: boolean; erased: () => ApiError },
): Known {
  const fields = fieldsOf(update);
  const isChanged = Object.keys(fields).some(
    (field) => fields[field as PersonField] !== known[field as PersonField],
  );
  if (known.erased_at !== null) {
    if (isChanged) throw erased();
    return known;
  }
  const named = FIELDS.filter(
    (field) => field in fields && (saysNull || fields[field] !== null || known[field] !== null),
  );
  const said = textOf(FIELDS.filter((field) => named.includes(field) || namesIn(known.said).includes(field)));
  if (!isChanged && said === known.said) return known;
  const without = (names: string | null) =>
    textOf(namesIn(names).filter((field) => !named.includes(field as PersonField)));
  return {
    ...known,
    ...fields,
    said,
    cleared: without(known.cleared),
    assumed: without(known.assumed),
    updated_at: isChanged ? Math.max(now, known.updated_at + 1) : known.updated_at,
  };
}
