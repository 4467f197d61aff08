import { env } from "cloudflare:workers";
import type { Answer } from "./api.ts";

/** An entry as stored, with the request id as the response shows it. */
export interface Entry {
  organization_id: number;
  at: number;
  event: string;
  resource: string;
  resource_id: number | null;
  call_id: number | null;
  organization_user_id: number | null;
  user_id: number;
  api_client_id: number | null;
  acting_user: string | null;
  purpose: string | null;
  request_id: string | null;
  shown: number[] | null;
  from_date: string | null;
  to_date: string | null;
}

async function select(where: string, ...values: unknown[]): Promise<Entry[]> {
  const { results } = await env.DB.prepare(
    `select organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id, api_client_id,
       acting_user, purpose, nullif(hex(request_id), '') as request_id, shown, from_date, to_date
     from access_logs where ${where} order by id`,
  )
    .bind(...values)
    .all<Omit<Entry, "shown"> & { shown: string | null }>();
  return results.map((entry) => ({ ...entry, shown: entry.shown && JSON.parse(entry.shown) }));
}

export async function entriesOfRequest({ headers }: Answer): Promise<Entry[]> {
  const id = headers.get("X-Request-Id") ?? "";
  const entries = await select("request_id = unhex(?, '-')", id);
  return entries.map((entry) => ({ ...entry, request_id: id }));
}

/** An organization's entries for an event and a resource, including those that no request left. */
export const entriesAbout = (
  organization: { id: number },
  event: string,
  resource: string,
): Promise<Entry[]> =>
  select("organization_id = ? and event = ? and resource = ?", organization.id, event, resource);

/** Makes every insert of an entry fail while the work runs. */
export async function withoutEntries<T>(work: () => Promise<T>): Promise<T> {
  await env.DB.prepare(
    "create trigger no_entries before insert on access_logs begin select raise(abort, 'no entry today'); end",
  ).run();
  try {
    return await work();
  } finally {
    await env.DB.prepare("drop trigger no_entries").run();
  }
}
