/**
 * Stand-ins for the D1 binding. One counts what is asked of the real D1, and takes as long as a D1 that is far away.
 * The other repeats from memory what the real one has answered, so that the CPU that is counted is only the Worker's.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** What was asked in one round trip, and under which session. */
export type Execute = (
  statements: Statement[],
  session: string | undefined,
  isBatch: boolean,
) => Promise<Answer>;

export interface Answer {
  results: D1Result<Record<string, unknown>>[];
  bookmark: string | null;
}

export interface Cost {
  round_trips: number;
  rows_read: number;
  rows_written: number;
}

/** Counts, delays and keeps everything that it is asked until it is reset. */
export interface Meter {
  binding: D1Database;
  /** Milliseconds that each call of D1 takes besides D1's own work. */
  round_trip_time: number;
  cost: Cost;
  answers: Answer[];
  /** Milliseconds by which the local D1's proxy took longer than the call should have taken: not to be counted. */
  overrun: number;
  reset(): void;
}

export function meter(database: D1Database): Meter {
  const metered: Meter = {
    binding: bindingOf(execute),
    round_trip_time: 0,
    cost: { round_trips: 0, rows_read: 0, rows_written: 0 },
    answers: [],
    overrun: 0,
    reset() {
      metered.cost = { round_trips: 0, rows_read: 0, rows_written: 0 };
      metered.answers = [];
      metered.overrun = 0;
    },
  };

  /**
   * The local D1 is reached through a proxy that blocks at each prepare and bind, and is no part of what is measured.
   * So a call takes the injected time and what D1 says that it worked; the proxy's time lies within, or is left over.
   */
  async function execute(statements: Statement[], session: string | undefined, isBatch: boolean) {
    const started = performance.now();
    const target =
      session === undefined ? database : (database.withSession(session) as unknown as D1Database);
    const prepared = statements.map(({ query, values }) =>
      values.length > 0 ? target.prepare(query).bind(...values) : target.prepare(query),
    );
    const results = isBatch
      ? await target.batch<Record<string, unknown>>(prepared)
      : [await (prepared[0] as D1PreparedStatement).all<Record<string, unknown>>()];
    const bookmark = session === undefined ? null : (target as unknown as D1DatabaseSession).getBookmark();
    let worked = 0;
    metered.cost.round_trips++;
    for (const { meta } of results) {
      metered.cost.rows_read += meta.rows_read;
      metered.cost.rows_written += meta.rows_written;
      worked += meta.duration;
    }
    const answer = { results, bookmark };
    metered.answers.push(copyOf(answer));
    const left = started + metered.round_trip_time + worked - performance.now();
    if (metered.round_trip_time > 0 && left > 0) await sleep(left);
    else metered.overrun -= left;
    return answer;
  }

  return metered;
}

/** A binding that answers from memory, as D1 answered one recorded request. */
export interface Replay {
  binding: D1Database;
  /** Gets ready for so many requests: rows are copied, since a request may convert them in place. */
  expect(requests: number): void;
  /** @throws Error where the requests asked less than the recorded one did */
  requireAllAsked(): void;
}

export function replay(recorded: Answer[]): Replay {
  let answers: Answer[] = [];
  let asked = 0;
  return {
    binding: bindingOf(async () => {
      const answer = answers[asked++];
      if (!answer) throw new Error("The database was asked more often than for the recorded request");
      return answer;
    }),
    expect(requests) {
      answers = Array.from({ length: requests }, () => recorded.map(copyOf)).flat();
      asked = 0;
    },
    requireAllAsked() {
      if (asked !== answers.length)
        throw new Error("The database was asked less than for the recorded request");
    },
  };
}

const copyOf = ({ results, bookmark }: Answer): Answer => ({
  results: results.map((result) => ({ ...result, results: result.results?.map((row) => ({ ...row })) })),
  bookmark,
});

/** The part of D1's interface that the Worker uses, over a function that executes. */
export function bindingOf(execute: Execute): D1Database {
  const open = (session: string | undefined) => {
    let bookmark: string | null = null;
    const run = async (statements: Statement[], isBatch = false) => {
      const answer = await execute(statements, session && (bookmark ?? session), isBatch);
      bookmark = answer.bookmark;
      return answer.results;
    };
    return {
      prepare: (query: string) => new Statement(run, query, []),
      batch: (statements: Statement[]) => run(statements, true),
      withSession: (start = "first-unconstrained") => open(start),
      getBookmark: () => bookmark,
    };
  };
  return open(undefined) as unknown as D1Database;
}

type Run = (statements: Statement[]) => Promise<Answer["results"]>;

export class Statement {
  readonly #run: Run;
  readonly query: string;
  readonly values: unknown[];

  constructor(run: Run, query: string, values: unknown[]) {
    this.#run = run;
    this.query = query;
    this.values = values;
  }

  bind(...values: unknown[]) {
    return new Statement(this.#run, this.query, values);
  }

  async all() {
    return (await this.#run([this]))[0];
  }

  run() {
    return this.all();
  }

  async first(column?: string) {
    const row = (await this.all())?.results[0];
    return row === undefined ? null : column === undefined ? row : row[column];
  }

  /** D1's own raw() does not return how many rows it read. */
  async raw() {
    return (await this.all())?.results.map((row) => Object.values(row));
  }
}
