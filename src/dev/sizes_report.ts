/** The rows and bytes of one organization in a portion of a table; those of no organization have null. */
export interface TableSize {
  organization: number | null;
  table: string;
  rows: number;
  bytes: number;
}

/** In bytes: D1 takes no more in one database. */
const MAX_DATABASE_SIZE = 10e9;

/** From here on it is time to act: it takes weeks to move organizations to a second service. */
const NEARLY_FULL = 0.7;

const ALL = "all tables";

/** A line for each organization and table; the largest organizations first, and the largest tables of each. */
export function sizeReport(sizes: TableSize[], slugs: Map<number, string>, databaseSize: number): string {
  const byOrganization = Map.groupBy(sizes, ({ organization }) => organization);
  const totals = [...byOrganization].map(([organization, its]) => {
    const tables = [...Map.groupBy(its, ({ table }) => table)].map(([table, portions]) =>
      sum(table, portions),
    );
    return { organization, lines: [sum(ALL, its), ...tables.sort((a, b) => b.bytes - a.bytes)] };
  });
  totals.sort((a, b) => (b.lines[0]?.bytes ?? 0) - (a.lines[0]?.bytes ?? 0));
  const lines = totals.flatMap(({ organization, lines }) =>
    lines.map(({ table, rows, bytes }) => [
      organization === null ? "-" : String(organization),
      organization === null ? "(no organization)" : (slugs.get(organization) ?? ""),
      table,
      String(rows),
      String(bytes),
    ]),
  );
  return [
    ...aligned([["organization", "slug", "table", "rows", "bytes (estimated)"], ...lines]),
    "",
    "Bytes are estimated from the lengths of the values, with the indexes and the space that SQLite needs beside them.",
    ...total(sum(ALL, sizes).bytes, databaseSize),
    "",
  ].join("\n");
}

function sum(table: string, sizes: TableSize[]) {
  const add = (what: "rows" | "bytes") => sizes.reduce((total, size) => total + size[what], 0);
  return { table, rows: add("rows"), bytes: add("bytes") };
}

function total(estimated: number, databaseSize: number): string[] {
  const share = databaseSize / MAX_DATABASE_SIZE;
  return [
    `All of it: about ${megabytes(estimated)}. The database has ${megabytes(databaseSize)}, which is ${(share * 100).toFixed(1)} % of the 10 GB that D1 allows.`,
    ...(share < NEARLY_FULL ? [] : ["IT IS NEARLY FULL: see src/docs/databases.md."]),
  ];
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Numbers, in the last two columns, end at the same place. */
function aligned(lines: string[][]): string[] {
  const widths = (lines[0] ?? []).map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0)));
  return lines.map((line) =>
    line.map((cell, n) => (n < 3 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  "),
  );
}
