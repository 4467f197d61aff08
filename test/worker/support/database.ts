import { env } from "cloudflare:workers";
import { digestOfReference } from "../../../src/audit/access_logs/access_logs.sql.ts";
import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

/** The first request of a day sets this column in the background, even if it is refused: comparisons leave it out. */
const IN_BACKGROUND = "last_used_at";

interface Table {
  name: string;
  columns: string[];
}

let known: Promise<Table[]> | undefined;

const tables = () => (known ??= readTables());

async function readTables(): Promise<Table[]> {
  const { results } = await env.DB.prepare(
    `select tables.name, json_group_array(columns.name) as columns
     from sqlite_master as tables, pragma_table_xinfo(tables.name) as columns
     where columns.name <> '${IN_BACKGROUND}' and tables.type = 'table' and tables.name not glob '_cf_*' and tables.name not glob 'sqlite_*' group by 1`,
  ).all<{ name: string; columns: string }>();
  return results.map(({ name, columns }) => ({ name, columns: JSON.parse(columns) }));
}

async function inEveryTable<Row>(query: (table: Table) => string) {
  const every = await tables();
  const found = await env.DB.batch<Row>(every.map((table) => env.DB.prepare(query(table))));
  return every.map(({ name }, n) => ({ name, rows: found[n]?.results ?? [] }));
}

export const everyRow = () =>
  inEveryTable<Record<string, unknown>>(({ name, columns }) => `select ${columns} from ${name}`);

/** Every row of every table, each as one text, which D1 returns several times as fast as the values. */
export async function everyRowAsText() {
  const asText = ({ columns }: Table) => columns.map((column) => `quote("${column}")`).join(" || ', ' || ");
  const found = await inEveryTable<{ row: string }>(
    (table) => `select ${asText(table)} as row from ${table.name}`,
  );
  return found.map(({ name, rows }) => ({ name, rows: rows.map(({ row }) => row) }));
}

const itsRows = (table: string, organization_id: number, columns = "*") =>
  `select ${columns} from ${table} where organization_id = ${organization_id} order by rowid`;

export const rowsOf = (organization_id: number) =>
  inEveryTable<Record<string, unknown>>(({ name, columns }) =>
    columns.includes("organization_id")
      ? itsRows(name, organization_id, String(columns))
      : `select * from ${name} where false`,
  );

/** The digest by which searches find the people with a reference. */
export const digestOf = (reference: string) => digestOfReference(env as never, reference);

export const storedRows = async ({ id }: { id: number }, table: string) =>
  (await env.DB.prepare(itsRows(table, id)).all<Record<string, unknown>>()).results;

/** A fetcher that counts the Worker's round trips to D1, including those of background work. */
export function countingRoundTrips(bindings: object = {}) {
  let trips = 0;
  const DB = observedDatabase({
    query(run) {
      trips++;
      return run();
    },
  });
  return {
    fetcher: throughWorkerWith({ ...bindings, DB }),
    /** The number of round trips that the work costs. */
    async during(work: () => Promise<unknown>) {
      trips = 0;
      await work();
      return trips;
    },
  };
}
