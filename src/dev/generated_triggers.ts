import { getTableColumns } from "drizzle-orm";
import { APPEND_ONLY, type AppendOnly } from "../database/append_only.ts";
import { SYSTEM_USER_ID } from "../organization/members/organization_users.table.ts";
import { organizations } from "../organization/organizations/organizations.table.ts";
import { AUDITED_FIELDS } from "../results/egress_audit_logs/audited_fields.ts";

/**
 * Triggers write the audit entries, so that no code can create or change an egress that has a call without its entry. An entry
 * holds [old, new] for each audited field, as the column stores it, and names the user from the report of the change. A change
 * of other fields writes no entry. The service writes the entries for reads, because SQLite has no trigger for SELECT.
 */
export const auditTriggers = (): string =>
  [
    created("egresses_created", "INSERT ON `egresses`\nWHEN new.call_id IS NOT NULL", "created_at"),
    created("egresses_claimed", "UPDATE OF call_id ON `egresses`\nWHEN old.call_id IS NULL", "updated_at"),
    updated(),
  ].join("\n");

/** If the report names no user, the entry names the service itself. */
const NAMED_USER = `coalesce(new.changed_by_user_id, ${SYSTEM_USER_ID})`;

/** Reports may be written in another order than they arrived, but the entries of a recording are in order by time and by id. */
const NOT_BEFORE_LATEST =
  "max(new.updated_at, coalesce((SELECT max(created_at) FROM egress_audit_logs WHERE egress_id = new.id), 0))";

const created = (
  name: string,
  event: string,
  time: "created_at" | "updated_at",
) => `CREATE TRIGGER \`${name}\` AFTER ${event}
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'create', ${NAMED_USER},
    json_group_object(field, json_array(NULL, new_value)), new.${time}
  FROM (
${unionOfFields((field) => [`new.${field} AS new_value`])}
  )
  WHERE new_value IS NOT NULL;
END;
`;

const updated = () => `CREATE TRIGGER \`egresses_updated\` AFTER UPDATE ON \`egresses\`
WHEN old.call_id IS NOT NULL
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'update', ${NAMED_USER},
    json_group_object(field, json_array(old_value, new_value)), ${NOT_BEFORE_LATEST}
  FROM (
${unionOfFields((field) => [`old.${field} AS old_value`, `new.${field} AS new_value`])}
  )
  WHERE old_value IS NOT new_value
  HAVING count(*) > 0;
END;
`;

/** D1 accepts at most five terms in a compound SELECT. */
const MAX_TERMS = 5;

/** A row for each field. The first SELECT of a union names its columns. Unions are nested to stay within MAX_TERMS. */
function unionOfFields(values: (field: string) => string[]): string {
  const selects = Object.keys(AUDITED_FIELDS).map(
    (field) => `SELECT ${[`'${field}' AS field`, ...values(field)].join(", ")}`,
  );
  const unions = Array.from({ length: Math.ceil(selects.length / MAX_TERMS) }, (_, index) =>
    selects
      .slice(index * MAX_TERMS, (index + 1) * MAX_TERMS)
      .map((select, place) =>
        place === 0 ? `    ${select}` : `    UNION ALL ${select.replace(/ AS \w+/g, "")}`,
      )
      .join("\n"),
  );
  if (unions.length === 1) return unions.join();
  return unions.map((union) => `    SELECT * FROM (\n${union}\n    )`).join("\n    UNION ALL\n");
}

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

/** The columns whose change is no event: nobody sees `mail_name`, and an update can change only `updated_at`. */
const WITHOUT_EVENT = ["id", "mail_name", "created_at", "updated_at"];

/** Generated, so that a column that is added to organizations has its event too. */
export function organizationTriggers(): string {
  const columns = Object.values(getTableColumns(organizations))
    .map(({ name }) => name)
    .filter((name) => !WITHOUT_EVENT.includes(name));
  return `CREATE TRIGGER \`events_organization_updated\` AFTER UPDATE OF ${columns.join(", ")} ON \`organizations\`
WHEN ${columns.map((name) => `old.${name} IS NOT new.${name}`).join(" OR ")}
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.id, 'organization.updated', '{}', new.updated_at);
END;
`;
}
