/** Executes the statements of one round trip. The session is undefined for a query without one. */
export type Execute = (
  statements: Statement[],
  session: string | undefined,
  isBatch: boolean,
) => Promise<Answer>;

export interface Answer {
  results: D1Result<Record<string, unknown>>[];
  bookmark: string | null;
}

/** The part of D1's interface that the Worker uses, on top of `execute`. */
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

  async raw() {
    return (await this.all())?.results.map((row) => Object.values(row));
  }

  async first(column?: string) {
    const row = (await this.all())?.results[0];
    return row === undefined ? null : column === undefined ? row : row[column];
  }
}
