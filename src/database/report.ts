import { type SQL, sql } from "drizzle-orm";

/*
 * A report of the platform names what it is about by the reporter's own key. A field left out stays as it was
 * reported before, null clears it. The report goes to the database as one JSON parameter, and is merged there with
 * the row of the same key (`known`), so that no decision is made on what has meanwhile changed.
 */

/** SQL for the reported value of a field, and for the known one where the report leaves it out. */
export function kept(report: SQL, field: string): SQL {
  return sql`case when ${leftOut(report, field)} then known.${sql.identifier(field)} else ${given(report, field)} end`;
}

/** SQL for the reported value of a field; null where it was cleared or left out. */
export function given(report: SQL, field: string): SQL {
  return sql`${report} ->> ${sql.raw(`'${field}'`)}`;
}

function leftOut(report: SQL, field: string): SQL {
  return sql`json_type(${report}, ${sql.raw(`'$.${field}'`)}) is null`;
}

/** SQL for a table `input` of one row, with the report as JSON in its column `report`. */
export function inputOf(report: object): SQL {
  return sql`(select ${JSON.stringify(report)} as report) input`;
}

/** For rules: makes SQL that is true where a condition holds of a report, as it is after merging. */
export function conditionsOn(report: SQL): (condition: SQL) => SQL {
  return (condition) => sql`exists (select 1 from ${report} report where ${condition})`;
}
