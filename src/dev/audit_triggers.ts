import { AUDITED_FIELDS } from "../database/audited_fields.ts";
import { SYSTEM_USER_ID } from "../database/schema.ts";

/**
 * An egress is neither created nor changed without its audit entry, whatever code does it: so triggers write the entries. An
 * entry holds [old, new] for each audited field, as the column stores it: a change of nothing else writes none. It names the
 * user whom the report of the change named. The entries for reads are written by the service, because SQLite has no trigger
 * for SELECT.
 */
export const auditTriggers = (): string => [created(), updated()].join("\n");

/** An entry always names somebody: where no report did, it was the service. */
const NAMED_USER = `coalesce(new.changed_by_user_id, ${SYSTEM_USER_ID})`;

const created = () => `CREATE TRIGGER \`egresses_created\` AFTER INSERT ON \`egresses\`
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'create', ${NAMED_USER},
    json_group_object(field, json_array(NULL, new_value)), new.created_at
  FROM (
${unionOfFields((field) => [`new.${field} AS new_value`])}
  )
  WHERE new_value IS NOT NULL;
END;
`;

const updated = () => `CREATE TRIGGER \`egresses_updated\` AFTER UPDATE ON \`egresses\`
BEGIN
  INSERT INTO egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
  SELECT new.organization_id, new.id, 'update', ${NAMED_USER},
    json_group_object(field, json_array(old_value, new_value)), new.updated_at
  FROM (
${unionOfFields((field) => [`old.${field} AS old_value`, `new.${field} AS new_value`])}
  )
  WHERE old_value IS NOT new_value
  HAVING count(*) > 0;
END;
`;

/** What D1 accepts in one compound SELECT. */
const MAX_TERMS = 5;

/** A row for each field; the first SELECT of a union names its columns. More fields than D1 accepts are a union of unions. */
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
