import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";
import worker from "../../../src/index.ts";
import { SEALED_AFTER } from "../../../src/lifetimes.ts";
import { DAY } from "../../../src/units.ts";
import { directory, isSharded } from "./deployed.ts";
import { given, type Organization } from "./organization.ts";

/** When a day can be sealed. */
export const closedAt = (date: string) => Date.parse(`${date}T00:00:00Z`) + DAY + SEALED_AFTER;

export const AUDIT_SIGNING_KEY =
  '{"kty":"OKP","crv":"Ed25519","x":"EByB_L4sbShRySVhBDgzlWqUptvWgQnc_jOMPjqTSLs","d":"test-audit-key-of-43-characters-AAAAAAAAAAA"}';

/** Runs the cron of a Worker with a key, as it was scheduled for a time. */
export const runCronAt = (time: number, bindings: object = {}) =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date(time) }), {
    ...env,
    AUDIT_SIGNING_KEY,
    ...bindings,
  });

/** Runs the cron an hour after a day is over. */
export const sealDay = (date: string, bindings: object = {}) => runCronAt(closedAt(date), bindings);

/** Writes entries of an organization at these times, as the cron would. Returns their ids. */
export async function addEntries({ id }: { id: number }, ...times: string[]): Promise<number[]> {
  const { results } = await env.DB.prepare(
    `insert into access_logs (organization_id, at, event, resource, user_id, request_id)
     select ?, value, 'delete', 'transcript', 1, randomblob(16) from json_each(?) returning id`,
  )
    .bind(id, JSON.stringify(times.map((time) => Date.parse(time))))
    .all<{ id: number }>();
  return results.map((row) => row.id);
}

/** An organization whose own making is not in its log: so that a test knows every entry. */
export async function withoutEntries(organization: Organization): Promise<Organization> {
  await env.DB.prepare("delete from access_logs where organization_id = ?").bind(organization.id).run();
  return organization;
}

export const sealsOf = async ({ client }: Organization) =>
  (await given(client.get("/access_log_seals?per_page=100"))).access_log_seals;

export const fileOf = ({ id }: { id: number }, date: string) => `${id}/${date}.ndjson.gz`;

/** What is in a file of the bucket. To read it through the service would be an entry of today. */
export async function textOf(name: string): Promise<string> {
  const file = await env.AUDIT_LOGS.get(name);
  if (!file) throw new Error(`There is no file ${name}`);
  return new Response(file.body.pipeThrough(new DecompressionStream("gzip"))).text();
}

/** The ids in the file of a sealed day. */
export async function idsInFile(organization: Organization, date: string): Promise<number[]> {
  const seals: { date: string }[] = await sealsOf(organization);
  if (!seals.some((seal) => seal.date === date)) throw new Error(`${date} is not sealed`);
  const lines = (await textOf(fileOf(organization, date))).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line).id);
}

const A_SEALED_DATE = "1990-01-31";

/** The sealed day of what happened at its beginning in an organization, whenever it was made. */
export async function aSealedDay(organization: Organization): Promise<string> {
  const date = A_SEALED_DATE;
  if (await env.AUDIT_LOGS.head(fileOf(organization, date))) return date;
  await withoutEntries(organization);
  await addEntries(organization, `${date}T09:30:00Z`);
  // Seen from then on, nothing else that a cron looks for has happened yet.
  while ((await sealsOf(organization)).length === 0) await sealDay(date);
  return date;
}

interface Bucket {
  put?: (put: () => Promise<R2Object | null>, name: string) => Promise<R2Object | null>;
  get?: (get: () => Promise<R2ObjectBody | null>, name: string) => Promise<R2ObjectBody | null>;
}

/** The bucket of the sealed days, with something around what is asked of it. */
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

/** What the service writes to the log while something is done, without its lines for requests. */
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

/** So many organizations with an entry each. */
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
  return { sealed: () => env.DB.prepare(query).bind(word).first<number>("n") };
}
