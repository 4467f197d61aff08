import { env } from "cloudflare:workers";

export interface Observer {
  /** Wraps each round trip: a single statement or a batch. `start` is where its session starts. */
  query?<Result>(run: () => Promise<Result>, start: string): Promise<Result>;
  /** Sees the text of a statement. */
  prepare?(text: string): void;
  /** Sees the values that are bound to a statement. */
  bind?(values: unknown[]): void;
}

/** The `start` of queries without a session. */
export const PRIMARY = "primary";

/** The real D1 with an observer, including its sessions. */
export function observedDatabase(observer: Observer, database = env.DB, start = PRIMARY): D1Database {
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  const around = <Result>(run: () => Promise<Result>) => observer.query?.(run, start) ?? run();

  function observed(statement: D1PreparedStatement): D1PreparedStatement {
    const proxy = new Proxy(statement, {
      get(target, property) {
        if (property === "bind")
          return (...values: unknown[]) => {
            observer.bind?.(values);
            return observed(target.bind(...values));
          };
        const value = Reflect.get(target, property);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => around(() => value.apply(target, args));
      },
    });
    originals.set(proxy, statement);
    return proxy;
  }

  return new Proxy(database, {
    get(target, property) {
      if (property === "prepare")
        return (text: string) => {
          observer.prepare?.(text);
          return observed(target.prepare(text));
        };
      if (property === "batch")
        return (statements: D1PreparedStatement[]) =>
          around(() => target.batch(statements.map((each) => originals.get(each) ?? each)));
      if (property === "withSession")
        return (constraint: string) =>
          observedDatabase(observer, target.withSession(constraint) as unknown as D1Database, constraint);
      if (property === "getBookmark") return () => (target as unknown as D1DatabaseSession).getBookmark();
      throw new Error(`The observed database does not have D1's ${String(property)}`);
    },
  });
}

/** Makes each round trip wait until it is released. */
export function hanging() {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const onTrip = async <Result>(run: () => Promise<Result>) => {
    asked.resolve();
    await released.promise;
    return run();
  };
  return { onTrip, asked: asked.promise, release: released.resolve };
}

/** A database that answers nothing until it is released. */
export function aSlowDatabase() {
  const { onTrip, ...hung } = hanging();
  return { DB: observedDatabase({ query: onTrip }), ...hung };
}
