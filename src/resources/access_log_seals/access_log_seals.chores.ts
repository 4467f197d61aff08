import { digest } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { runAll } from "../../database/queries.ts";
import { randomOrder } from "../../database/turns.ts";
import { endOfDate } from "../../http/dates.ts";
import { log, logFault } from "../../http/log.ts";
import { SEALED_PART } from "../../limits.ts";
import type { Settings } from "../../settings.ts";
import { DAYS_SEALED, ENTRIES_SEALED, SEALED_PAGE, SEALING_TIME_LIMIT } from "../../tuning.ts";
import type { AccessLog } from "../access_logs/access_logs.schemas.ts";
import { type Contents, fileOf, packEntries, readFile, storeFile } from "./access_log_seals.files.ts";
import { signSeal } from "./access_log_seals.keys.ts";
import { newestClosedDay, partToSeal } from "./access_log_seals.merge.ts";
import {
  type EntriesBetween,
  entriesBetween,
  insertSeal,
  type OrganizationToSeal,
  organizationsToSeal,
  type SealClaims,
} from "./access_log_seals.sql.ts";

/**
 * Seals a day, or a part of one, of each organization that has one to seal, its oldest. The next runs go on. One organization
 * that fails does not stop the others.
 *
 * @returns how many it sealed
 */
export async function sealDays(context: Context): Promise<number> {
  const key = context.settings.AUDIT_SIGNING_KEY;
  if (!key) {
    log("access_log_not_sealed", {});
    return 0;
  }
  const closed = newestClosedDay(context.now);
  const due = { closed, end: endOfDate(closed), order: randomOrder(), portion: DAYS_SEALED };
  const started = Date.now();
  const organizations = await runAll(context.db, organizationsToSeal(due));
  let days = 0;
  let entries = 0;
  for (const each of organizations) {
    if (entries >= ENTRIES_SEALED || Date.now() - started > SEALING_TIME_LIMIT) break;
    try {
      const seal = await sealDay(context, key, each);
      if (!seal) continue;
      days++;
      entries += seal.count;
    } catch (error) {
      logFault({ organization_id: each.organization_id }, error);
    }
  }
  return days;
}

/**
 * First the file, then the row. Another run, or the next one after a crash between the two, finds the file and takes it.
 *
 * @returns null if another file is in the way, or another run was first
 */
async function sealDay(
  context: Context,
  key: NonNullable<Settings["AUDIT_SIGNING_KEY"]>,
  { organization_id, first_at, last_id, last_date, last_part, last_count, previous }: OrganizationToSeal,
): Promise<SealClaims | null> {
  const { db, auditLogs, now } = context;
  const last =
    last_date && last_part && last_count ? { date: last_date, part: last_part, count: last_count } : null;
  const { date, part } = partToSeal(first_at, last);
  const name = fileOf(organization_id, date, part);
  const rest = { organization_id, after: last_id ?? 0, through: Number.MAX_SAFE_INTEGER };
  const { contents, file } = await packEntries(pagesOf(db, rest, endOfDate(date)));
  const isStored = await storeFile(auditLogs, name, file);
  const sealed = isStored ? contents : await contentsOfFile(context, name, rest, endOfDate(date));
  if (!sealed) {
    log("access_log_file_in_the_way", { organization_id, date, part });
    return null;
  }
  const seal = { organization_id, date, part, ...sealed, previous };
  const jws = await signSeal(key, seal);
  const row = { ...seal, jws, jws_sha256: await digest(jws), created_at: now };
  const [inserted] = await runAll(db, insertSeal(row));
  return inserted ? seal : null;
}

/** What a file holds that is there without its row, if D1 has just its entries; null if not. */
async function contentsOfFile(
  { db, auditLogs }: Context,
  name: string,
  rest: EntriesBetween,
  end: number,
): Promise<Contents | null> {
  const found = await readFile(auditLogs, name);
  if (!found) return null;
  const { contents } = await packEntries(pagesOf(db, { ...rest, through: found.last_id }, end));
  return contents.sha256 === found.sha256 ? contents : null;
}

/**
 * The entries of a part: up to the first one that was made at the end of the day or later, or as many as a part has. Ids are given
 * in the order of commits.
 */
async function* pagesOf(db: Database, rest: EntriesBetween, end: number): AsyncGenerator<AccessLog[]> {
  let after = rest.after;
  for (let left = SEALED_PART; left > 0; left -= SEALED_PAGE) {
    const page = await runAll(db, entriesBetween({ ...rest, after, limit: Math.min(SEALED_PAGE, left) }));
    const beyond = page.findIndex(({ at }) => at >= end);
    yield beyond < 0 ? page : page.slice(0, beyond);
    if (beyond >= 0 || page.length < SEALED_PAGE) return;
    after = page.at(-1)?.id ?? after;
  }
}
