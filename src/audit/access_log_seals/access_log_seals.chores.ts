import { digest } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { runAll } from "../../database/queries.ts";
import { dateOf, endOfDate } from "../../http/dates.ts";
import { log, logFault } from "../../http/log.ts";
import { SEALED_AFTER } from "../../lifetimes.ts";
import { MAX_SEALED_ENTRIES } from "../../limits.ts";
import type { Settings } from "../../settings.ts";
import { DAYS_SEALED, ENTRIES_SEALED, SEALED_PAGE, SEALING_TIME_LIMIT } from "../../tuning.ts";
import { DAY } from "../../units.ts";
import type { AccessLog } from "../access_logs/access_logs.schemas.ts";
import { fileOf, packEntries, readFile, storeSealedDay } from "./access_log_seals.files.ts";
import { signSeal } from "./access_log_seals.keys.ts";
import * as sql from "./access_log_seals.sql.ts";

/**
 * The day of an organization's next seal: the day of its first unsealed entry. If that day is already sealed, because
 * the entry came late or the seal was full, it is the day after the last seal. The client package checks the same rule.
 */
function dayToSeal(first_at: number, last_date: string | null): string {
  const date = dateOf(first_at);
  return last_date === null || date > last_date ? date : dateOf(endOfDate(last_date));
}

/**
 * Seals the oldest unsealed day of each organization; later runs seal the following days. One organization's failure
 * does not stop the others.
 */
export async function sealDays(context: Context): Promise<number> {
  const key = context.settings.AUDIT_SIGNING_KEY;
  if (!key) {
    log("access_log_not_sealed", {});
    return 0;
  }
  const closed = dateOf(context.now - SEALED_AFTER - DAY);
  const due = { closed, end: endOfDate(closed), limit: DAYS_SEALED };
  const deadline = Date.now() + SEALING_TIME_LIMIT;
  const read = { entries: 0 };
  let days = 0;
  for (const each of await runAll(context.db, sql.organizationsToSeal(due))) {
    if (read.entries >= ENTRIES_SEALED || Date.now() > deadline) break;
    try {
      if (await sealDay(context, key, each, read)) days++;
    } catch (error) {
      logFault({ organization_id: each.organization_id }, error);
    }
  }
  return days;
}

/**
 * Writes the file before the row. If another run, or a crash between the two, has left the file, that file is used.
 *
 * @param read counts the entries read, including those of a day that is not sealed in the end
 * @returns false if a different file exists, or another run sealed the day first
 */
async function sealDay(
  context: Context,
  key: NonNullable<Settings["AUDIT_SIGNING_KEY"]>,
  { organization_id, first_at, last_id, last_date, previous }: sql.OrganizationToSeal,
  read: { entries: number },
): Promise<boolean> {
  const { db, auditLogs, now } = context;
  const date = dayToSeal(first_at, last_date);
  const name = fileOf(organization_id, date);
  const pagesThrough = (through: number) =>
    pagesOf(db, { organization_id, after: last_id ?? 0, through }, endOfDate(date), read);
  const found = await readFile(auditLogs, name);
  // Entries committed after the file was written go into the next seal.
  const { contents, size } = await packEntries(pagesThrough(found?.last_id ?? Number.MAX_SAFE_INTEGER));
  if (found && (contents.count === 0 || found.sha256 !== contents.sha256)) {
    log("access_log_file_in_the_way", { organization_id, date });
    return false;
  }
  const write = (file: WritableStream<Uint8Array>) => packEntries(pagesThrough(contents.last_id), file);
  if (!found && !(await storeSealedDay(auditLogs, name, size, write))) return false;
  const seal = { organization_id, date, ...contents, previous };
  const jws = await signSeal(key, seal);
  const row = { ...seal, jws, jws_sha256: await digest(jws), created_at: now };
  const [inserted] = await runAll(db, sql.insertSeal(row));
  return inserted !== undefined;
}

/**
 * The entries of a seal: those before the first one made after the end of the day, up to the maximum of a seal. Ids
 * ascend in the order of commits.
 */
async function* pagesOf(
  db: Database,
  rest: sql.EntriesBetween,
  end: number,
  read: { entries: number },
): AsyncGenerator<AccessLog[]> {
  let after = rest.after;
  for (let left = MAX_SEALED_ENTRIES; left > 0; left -= SEALED_PAGE) {
    const page = await runAll(db, sql.entriesBetween({ ...rest, after, limit: Math.min(SEALED_PAGE, left) }));
    read.entries += page.length;
    const beyond = page.findIndex(({ at }) => at >= end);
    yield beyond < 0 ? page : page.slice(0, beyond);
    if (beyond >= 0 || page.length < SEALED_PAGE) return;
    after = page.at(-1)?.id ?? after;
  }
}
