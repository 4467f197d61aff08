/**
 * The service in this process, over SQLite in memory: thousands of requests take seconds, and their memory is this
 * process's. Counts the rows that each request changes.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { app } from "../../../src/app.ts";
import { migratedDatabase } from "../../../src/dev/migrations.ts";
import { openClinic, platformCredentials } from "./clinic_in_node.ts";
import { bindingOf, type Execute } from "./d1_binding.ts";
import { answer, bindings, type Handler, likeWorkers, signatureOfLiveKit } from "./worker_in_node.ts";

export type Api = "external" | "platform" | "livekit";

/** A placeholder for the signature, which depends on the body. */
const SIGNED = "signed";

export interface Outcome {
  status: number;
  text: string;
  /** The rows that the request inserted, updated or deleted, including changes by triggers. */
  changes: number;
  faults: unknown[];
}

/** Whether the response is a refusal. Its text names only some faults, so that it stays shorter than a body may be. */
export function isRefusal(text: string): boolean {
  const { error, ...others } = JSON.parse(text);
  const isText = typeof error === "string" && error.trim() !== "" && error.length < 2000;
  return isText && Object.keys(others).length === 0;
}

export type Service = Awaited<ReturnType<typeof openService>>;

export async function openService() {
  likeWorkers();
  const database = migratedDatabase();
  let changes = 0;
  let faults: unknown[] = [];
  Object.assign(console, { error: (line: unknown) => faults.push(line) });
  const env = bindings(bindingOf(executeOn(database, (more) => (changes += more))));
  const clinic = await openClinic(env);
  // The service records the first request of a client in a day, whatever its outcome.
  await clinic.client("GET", "/roles");
  return {
    clinic,
    credentials: {
      external: clinic.credentials,
      platform: platformCredentials,
      livekit: { Authorization: SIGNED },
    } satisfies Record<Api, Record<string, string>>,
    async send(request: Request): Promise<Outcome> {
      if (request.headers.get("Authorization") === SIGNED)
        request.headers.set("Authorization", signatureOfLiveKit(await request.clone().text(), Date.now()));
      changes = 0;
      faults = [];
      const response = await answer(app.fetch as Handler, request, env);
      return { status: response.status, text: await response.text(), changes, faults };
    },
  };
}

/** Runs a batch in a transaction, as D1 does, and reports the rows that a committed one changed. */
export function executeOn(database: DatabaseSync, onChange: (rows: number) => void = () => {}): Execute {
  const known = new Map<string, StatementSync>();
  const totalChanges = database.prepare("select total_changes() as total");
  const total = () => Number(totalChanges.get()?.total);
  return async (statements) => {
    const before = total();
    database.exec("BEGIN");
    try {
      const results = statements.map(({ query, values }) => {
        const statement = known.get(query) ?? database.prepare(query);
        known.set(query, statement);
        const rows = statement.all(...values.map(toSqlite)).map((row) => ({ ...row }));
        return { success: true, results: rows, meta: {} } as unknown as D1Result<Record<string, unknown>>;
      });
      database.exec("COMMIT");
      onChange(total() - before);
      return { results, bookmark: null };
    } catch (error) {
      database.exec("ROLLBACK");
      throw new Error(`D1_ERROR: ${(error as Error).message}`);
    }
  };
}

function toSqlite(value: unknown): string | bigint | number | null {
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return value;
  if (value === null || typeof value === "string") return value;
  throw new Error(`D1_TYPE_ERROR: Type '${typeof value}' not supported`);
}
