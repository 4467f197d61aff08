/** What a call leaves in the database: how much the local D1 grows by each of many, reported through the service. */
import { AN_HOUR, type Clinic, reportCall } from "./clinic.ts";

/** A call with an hour's transcript may take this many bytes. */
export const STORAGE_BOUND = 35_000;

/** D1's limit for a database, in bytes. */
export const DATABASE_LIMIT = 10_000_000_000;

export interface Storage {
  name: string;
  /** For each call. */
  bytes: number;
  bound?: number;
}

export async function measureStorage(
  database: D1Database,
  { platform, provider }: Clinic,
  calls: number,
): Promise<Storage[]> {
  const growthBy = async (lines: number) => {
    const before = await sizeOf(database);
    for (let n = 0; n < calls; n++) await reportCall(platform, provider, lines, n);
    return ((await sizeOf(database)) - before) / calls;
  };
  return [
    { name: "A call with a summary, a SOAP note and two recordings", bytes: await growthBy(0) },
    {
      name: "The same, with the transcript of an hour",
      bytes: await growthBy(AN_HOUR),
      bound: STORAGE_BOUND,
    },
  ];
}

const sizeOf = async (database: D1Database): Promise<number> =>
  (await database.prepare("select 1").run()).meta.size_after;
