/**
 * Substitutes for the D1 binding. One counts the use of the real D1, and takes as long as a D1 that is far away. The
 * other repeats recorded answers from memory, so that only the CPU of the Worker is counted.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, bindingOf, type Execute } from "../project/support/d1_binding.ts";

const nothing = () => ({
  round_trips: 0,
  rows_read: 0,
  rows_written: 0,
  answers: [] as Answer[],
  /** The milliseconds by which the local D1's proxy took longer than a round trip should. They must not be counted. */
  overrun: 0,
});

export type Meter = ReturnType<typeof meter>;

export function meter(database: D1Database) {
  const metered = {
    binding: bindingOf(execute),
    /** The milliseconds that each round trip takes besides D1's own work. */
    round_trip_time: 0,
    used: nothing(),
    reset() {
      metered.used = nothing();
    },
  };

  /**
   * The local D1 is reached through a proxy that blocks at each prepare and bind, and must not be measured. So a round
   * trip takes the injected time and the time that D1 reports. The proxy's time is within this, or goes to `overrun`.
   */
  async function execute(...[statements, session, isBatch]: Parameters<Execute>) {
    const started = performance.now();
    const target =
      session === undefined ? database : (database.withSession(session) as unknown as D1Database);
    const prepared = statements.map(({ query, values }) => target.prepare(query).bind(...values));
    const results = isBatch
      ? await target.batch<Record<string, unknown>>(prepared)
      : [await (prepared[0] as D1PreparedStatement).all<Record<string, unknown>>()];
    const bookmark = session === undefined ? null : (target as unknown as D1DatabaseSession).getBookmark();
    const { used, round_trip_time } = metered;
    used.answers.push(copyOf({ results, bookmark }));
    used.round_trips++;
    let worked = 0;
    for (const { meta } of results) {
      used.rows_read += meta.rows_read;
      used.rows_written += meta.rows_written;
      worked += meta.duration;
    }
    const left = started + round_trip_time + worked - performance.now();
    if (round_trip_time > 0 && left > 0) await sleep(left);
    else used.overrun -= left;
    return { results, bookmark };
  }

  return metered;
}

/** A binding that answers from memory as D1 answered one recorded request. */
export function replay(recorded: Answer[]) {
  let answers: Answer[] = [];
  return {
    binding: bindingOf(async () => {
      const answer = answers.shift();
      if (!answer) throw new Error("The database was asked more often than for the recorded request");
      return answer;
    }),
    /** Prepares for this many requests. Rows are copied, because a request may convert them in place. */
    expect(requests: number) {
      answers = Array.from({ length: requests }, () => recorded.map(copyOf)).flat();
    },
    requireAllAsked() {
      if (answers.length > 0) throw new Error("The database was asked less than for the recorded request");
    },
  };
}

const copyOf = ({ results, bookmark }: Answer): Answer => ({
  results: results.map((result) => ({ ...result, results: result.results?.map((row) => ({ ...row })) })),
  bookmark,
});
