import { AN_HOUR, aWholeCall, type BenchClinic } from "./clinic.ts";

export interface Storage {
  name: string;
  /** Bytes that each call adds. */
  bytes: number;
  bound: number;
}

/** Measures how much the local D1 grows with each of many calls that are reported through the service. */
export async function measureStorage(
  database: D1Database,
  clinic: BenchClinic,
  calls: number,
): Promise<Storage[]> {
  const size = async () => (await database.prepare("select 1").run()).meta.size_after;
  const growthBy = async (lines: number) => {
    const before = await size();
    for (let n = 0; n < calls; n++) await aWholeCall(clinic, clinic.provider, lines, n);
    return ((await size()) - before) / calls;
  };
  const name = "A call with a summary, a SOAP note and two recordings";
  return [
    { name, bytes: await growthBy(0), bound: Number.POSITIVE_INFINITY },
    { name: "Such a call with an hour's transcript", bytes: await growthBy(AN_HOUR), bound: 35_000 },
  ];
}
