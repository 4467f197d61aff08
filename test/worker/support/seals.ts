import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";
import worker from "../../../src/index.ts";
import { SEALED_AFTER } from "../../../src/lifetimes.ts";
import { DAY } from "../../../src/units.ts";
import { directory, isSharded } from "./deployed.ts";
import { given, type Organization } from "./organization.ts";

/** The earliest time at which a day can be sealed. */
export const closedAt = (date: string) => Date.parse(`${date}T00:00:00Z`) + DAY + SEALED_AFTER;

export const AUDIT_SIGNING_KEY =
  '{"kty":"OKP","crv":"Ed25519","x":"EByB_L4sbShRySVhBDgzlWqUptvWgQnc_jOMPjqTSLs","d":"test-audit-key-of-43-characters-AAAAAAAAAAA"}';

/** Runs the cron of a Worker with a signing key, as scheduled for a time. */
export const runCronAt = (time: number, bindings: object = {}) =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date(time) }), {
    ...env,
    AUDIT_SIGNING_KEY,
    ...bindings,
  });

/** Runs the cron an hour after a day is over. */
export const sealDay = (date: string, bindings: object = {}) => runCronAt(closedAt(date), bindings);

/** Inserts entries of an organization at these times, as the cron would write them. Returns their ids. */
export async function addEntries({ id }: { id: number }, ...times: string[]): Promise<number[]> {
  const { results } = await env.DB.prepare(
    `insert into access_logs (organization_id, at, event, resource, user_id, request_id)
     select ?, value, 'delete', 'transcript', 1, randomblob(16) from json_each(?) returning id`,
  )
    .bind(id, JSON.stringify(times.map((time) => Date.parse(time))))
    .all<{ id: number }>();
  return results.map((row) => row.id);
}

/** Deletes the entries about the creation of an organization, so that a test knows every entry. */
export async function withoutEntries(organization: Organization): Promise<Organization> {
  await env.DB.prepare("delete from access_logs where organization_id = ?").bind(organization.id).run();
  return organization;
}

export const sealsOf = async ({ client }: Organization) =>
  (await given(client.get("/access_log_seals?per_page=100"))).access_log_seals;

export const fileOf = ({ id }: { id: number }, date: string) => `${id}/${date}.ndjson.gz`;

/** The text of a file in the bucket. Reading it through the service would leave an entry. */
export async function textOf(name: string): Promise<string> {
  const file = await env.AUDIT_LOGS.get(name);
  if (!file) throw new Error(`There is no file ${name}`);
  return new Response(file.body.pipeThrough(new DecompressionStream("gzip"))).text();
}

export async function idsInFile(organization: Organization, date: string): Promise<number[]> {
  const seals: { date: string }[] = await sealsOf(organization);
  if (!seals.some((seal) => seal.date === date)) throw new Error(`${date} is not sealed`);
  const lines = (await textOf(fileOf(organization, date))).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line).id);
}

const A_SEALED_DATE = "1990-01-31";

const isSealed = async ({ id }: Organization) =>
  (await env.DB.prepare("select 1 from access_log_seals where organization_id = ?").bind(id).first()) !==
  null;

/** Seals a day long ago with one entry, once for each organization, and returns its date. */
export async function aSealedDay(organization: Organization): Promise<string> {
  const date = A_SEALED_DATE;
  if (await isSealed(organization)) return date;
  await withoutEntries(organization);
  await addEntries(organization, `${date}T09:30:00Z`);
  // At that time, nothing else has happened yet that the cron would look for.
  for (let run = 0; run < 100; run++) {
    await sealDay(date);
    if (await isSealed(organization)) return date;
  }
  throw new Error(`The cron does not seal ${date}: the bucket may have a file for it`);
}

interface Bucket {
  put?: (put: () => Promise<R2Object | null>, name: string) => Promise<R2Object | null>;
  get?: (get: () => Promise<R2ObjectBody | null>, name: string) => Promise<R2ObjectBody | null>;
}

/** The bucket of the sealed days, with these functions around its `put` and `get`. */
export const anAuditBucket = ({ put = (work) => work(), get = (work) => work() }: Bucket): R2Bucket =>
  new Proxy(env.AUDIT_LOGS, {
    get(target, property) {
      if (property === "put")
        return (name: string, ...rest: [ReadableStream, R2PutOptions & { onlyIf: Headers }]) =>
          put(() => target.put(name, ...rest), name);
      if (property === "get") return (name: string) => get(() => target.get(name), name);
      throw new Error(`The bucket does not have R2's ${String(property)}`);
    },
  });

export const R2_FAULT = "put: We encountered an internal error. Please try again. (10001)";

/** Returns the lines that the service logs during the work, without those for requests. */
export async function logOf(work: () => Promise<unknown>) {
  const lines: Record<string, unknown>[] = [];
  const { log, error } = console;
  const keep = (line: unknown) => void lines.push(JSON.parse(String(line)));
  onTestFinished(() => void Object.assign(console, { log, error }));
  Object.assign(console, { log: keep, error: keep });
  await work();
  Object.assign(console, { log, error });
  return lines.filter(({ event }) => event !== "request");
}

/** Inserts `count` organizations with one access log entry each. */
export async function manyOrganizations(count: number, at: string) {
  const [, word = ""] = crypto.randomUUID().split("-");
  const places = await directory
    .prepare(
      `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ?)
       insert into places (slug, shard) select ? || '-' || n, ? from counter returning id, slug`,
    )
    .bind(count, word, Number(isSharded))
    .all();
  await env.DB.prepare(
    `insert into organizations (id, name, slug, created_at, updated_at)
     select value ->> 'id', 'Clinic', value ->> 'slug', 0, 0 from json_each(?)`,
  )
    .bind(JSON.stringify(places.results))
    .run();
  await env.DB.prepare(
    `insert into access_logs (organization_id, at, event, resource, user_id)
     select id, ?, 'delete', 'transcript', 1 from organizations where slug like ? || '-%'`,
  )
    .bind(Date.parse(at), word)
    .run();
  const query = `select count(*) as n from access_log_seals
    where organization_id in (select id from organizations where slug like ? || '-%')`;
  const ids = places.results.map(({ id }) => id as number);
  return { ids, sealed: () => env.DB.prepare(query).bind(word).first<number>("n") };
}
