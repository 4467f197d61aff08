interface Timestamps {
  created_at: number;
  updated_at: number;
}

/**
 * The record that a report leaves behind: a new one, or the known one with these fields. A known record that has
 * them all already is returned as it is: there is nothing to write, and updated_at stays.
 *
 * @param alongside fields that are set when something changes, but are no change themselves
 */
export function reviseRecord<Fields extends object, Alongside extends object>(
  known: (Fields & Alongside & Timestamps) | undefined,
  fields: Fields,
  now: number,
  alongside: Alongside = {} as Alongside,
): Fields & Alongside & Timestamps {
  if (!known) return { ...fields, ...alongside, created_at: now, updated_at: now };
  const names = Object.keys(fields) as (keyof Fields)[];
  const isSame = names.every((name) => fields[name] === known[name]);
  return isSame ? known : { ...known, ...fields, ...alongside, updated_at: now };
}
