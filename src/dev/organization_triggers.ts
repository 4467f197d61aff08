import { getTableColumns } from "drizzle-orm";
import { organizations } from "../organization/organizations/organizations.table.ts";

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
