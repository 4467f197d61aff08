import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

/** The longest string or BLOB that D1 accepts. The local D1 accepts longer ones. */
const MAX_BYTES = 2_000_000;

const encoder = new TextEncoder();

function requireAccepted(value: unknown) {
  const size = typeof value === "string" ? encoder.encode(value).length : (value as ArrayBuffer)?.byteLength;
  if (size > MAX_BYTES) throw new Error("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
}

/** A database that refuses long values, both bound and returned ones, as D1 does in production. */
export const strictDatabase = observedDatabase({
  bind: (values) => values.forEach(requireAccepted),
  async query(run) {
    const answer = await run();
    for (const { results = [] } of [answer].flat() as D1Result<Record<string, unknown>>[])
      for (const row of results) Object.values(row).forEach(requireAccepted);
    return answer;
  },
});

export const throughStrictDatabase = throughWorkerWith({ DB: strictDatabase });
