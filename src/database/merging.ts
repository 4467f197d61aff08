export interface Timestamps {
  created_at: number;
  updated_at: number;
}

/**
 * The row that a report leaves behind: a new one, or the known one with these fields. A known row that has them all
 * already is returned as it is: there is nothing to write, and updated_at stays.
 *
 * @param onChange fields that are set only where another one changes
 */
export function reviseRow<Known extends Timestamps, Fields extends Partial<Known>>(
  known: Known | undefined,
  fields: Fields,
  now: number,
  onChange: Partial<Known> = {},
): Known | (Fields & Timestamps) {
  if (!known) return { ...fields, ...onChange, created_at: now, updated_at: now };
  const names = Object.keys(fields) as (keyof Known)[];
  const isSame = names.every((name) => (fields as Partial<Known>)[name] === known[name]);
  return isSame ? known : { ...known, ...fields, ...onChange, updated_at: now };
}

/** JSON columns hold lists, so they are compared as JSON. */
export const isChanged = (before: unknown, next: unknown): boolean =>
  before !== next && JSON.stringify(before) !== JSON.stringify(next);

/** True where an update says nothing new: `updated_at` alone does not count. */
export const isSameRow = <Row extends Pick<Timestamps, "updated_at">>(
  before: Row,
  next: NoInfer<Row>,
): boolean =>
  (Object.keys(next) as (keyof Row)[]).every(
    (name) => name === "updated_at" || !isChanged(before[name], next[name]),
  );
