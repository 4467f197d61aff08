/** What a call leaves in the database: how much the local D1 grows by each of many, reported through the service. */
import { type Clinic, DAYS_AGO, unique } from "./clinic.ts";
import { spokenLines } from "./speech.ts";

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

const HOUR = 600;

export async function measureStorage(
  database: D1Database,
  clinic: Clinic,
  calls: number,
): Promise<Storage[]> {
  const growthBy = async (add: (key: string, speakers: string[], n: number) => Promise<unknown>) => {
    const before = await sizeOf(database);
    for (let n = 0; n < calls; n++) {
      const [key, speakers] = [unique(), [unique(), unique()]];
      await reportCall(clinic, key, speakers);
      await add(key, speakers, n);
    }
    return ((await sizeOf(database)) - before) / calls;
  };
  const alone = await growthBy(async () => {});
  const transcribed = await growthBy((key, speakers, n) =>
    clinic.platform("PUT", `/calls/${key}/transcript`, {
      transcript: {
        summary: "A follow-up on blood pressure, which has come down.",
        is_final: true,
        lines: spokenLines(speakers, HOUR, n),
      },
    }),
  );
  return [
    { name: "A call of two people", bytes: alone },
    { name: "The same, with the transcript of an hour", bytes: transcribed, bound: STORAGE_BOUND },
  ];
}

const reportCall = ({ platform, provider }: Clinic, key: string, [speaker, listener]: string[]) =>
  platform("PUT", `/calls/${key}`, {
    call: {
      waiting_room_slug: provider.waiting_room_slug,
      organization_user_id: provider.id,
      started_at: DAYS_AGO(2),
      ended_at: DAYS_AGO(1.96),
      participants: [
        { key: speaker, display_name: "Paula Provider", role: "provider", recording_consent: true },
        { key: listener, display_name: "Rita Recipient", role: "recipient", recording_consent: true },
      ],
    },
  });

async function sizeOf(database: D1Database): Promise<number> {
  return (await database.prepare("select 1").run()).meta.size_after;
}
