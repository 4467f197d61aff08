import { env } from "cloudflare:workers";
import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

/** Every row of every table, to check that a refused request changed nothing. */
export async function everyRow() {
  const tables = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not glob '_cf_*' and name not glob 'sqlite_*'",
  ).all<{ name: string }>();
  const contents = await env.DB.batch<Record<string, unknown>>(
    tables.results.map(({ name }) => env.DB.prepare(`select * from "${name}"`)),
  );
  return tables.results.map(({ name }, n) => ({ name, rows: contents[n]?.results ?? [] }));
}

/** Every row that belongs to one organization. */
export async function rowsOf(organization_id: number) {
  const tables = await everyRow();
  return tables.map(({ name, rows }) => ({
    name,
    rows: rows.filter((row) => row.organization_id === organization_id),
  }));
}

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
