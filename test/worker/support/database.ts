import { env } from "cloudflare:workers";
import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

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
     where tables.type = 'table' and tables.name not glob '_cf_*' and tables.name not glob 'sqlite_*' group by 1`,
  ).all<{ name: string; columns: string }>();
  return results.map(({ name, columns }) => ({ name, columns: JSON.parse(columns) }));
}

/** The rows that a query finds in each table. */
async function inEveryTable<Row>(query: (table: Table) => string) {
  const every = await tables();
  const found = await env.DB.batch<Row>(every.map((table) => env.DB.prepare(query(table))));
  return every.map(({ name }, n) => ({ name, rows: found[n]?.results ?? [] }));
}

/** Every row of every table. */
export const everyRow = () => inEveryTable<Record<string, unknown>>(({ name }) => `select * from ${name}`);

/** Every row of every table, each as one text: D1 returns them several times as fast as their values. */
export async function everyRowAsText() {
  const asText = ({ columns }: Table) => columns.map((column) => `quote("${column}")`).join(" || ', ' || ");
  const found = await inEveryTable<{ row: string }>(
    (table) => `select ${asText(table)} as row from ${table.name}`,
  );
  return found.map(({ name, rows }) => ({ name, rows: rows.map(({ row }) => row) }));
}

const itsRows = (table: string, organization_id: number) =>
  `select * from ${table} where organization_id = ${organization_id} order by rowid`;

/** Every row that belongs to one organization. */
export const rowsOf = (organization_id: number) =>
  inEveryTable<Record<string, unknown>>(({ name, columns }) =>
    columns.includes("organization_id")
      ? itsRows(name, organization_id)
      : `select * from ${name} where false`,
  );

/** Those of one table. */
export const storedRows = async ({ id }: { id: number }, table: string) =>
  (await env.DB.prepare(itsRows(table, id)).all<Record<string, unknown>>()).results;

/** A way to the Worker, with other bindings if needed, that counts its calls to D1, including background work. */
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
