import { APPEND_ONLY, type AppendOnly } from "../database/append_only.ts";

export const appendOnlyTriggers = (): string =>
  APPEND_ONLY.flatMap((each) => each.refused.map((refused) => refusing(each, refused))).join("\n");

function refusing(
  { table, rows, replaced = "id = new.id" }: AppendOnly,
  refused: AppendOnly["refused"][number],
): string {
  const ifReplaced = `\nWHEN EXISTS (SELECT 1 FROM ${table} WHERE ${replaced})`;
  const [name, event, verb, when] = {
    UPDATE: ["unchanged", "UPDATE", "changed", ""],
    DELETE: ["kept", "DELETE", "deleted", ""],
    REPLACE: ["not_replaced", "INSERT", "changed", ifReplaced],
  }[refused];
  return `CREATE TRIGGER \`${table}_${name}\` BEFORE ${event} ON \`${table}\`${when}
BEGIN
  SELECT raise(ABORT, '${rows} are never ${verb}');
END;`;
}
