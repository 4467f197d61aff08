import { isDate, sha256, verifyChain, verifyHeads, warningsOf } from "./access_log_chain.ts";
import { verifyFiles } from "./access_log_files.ts";
import type { AccessLogSource, Check, VerifiedAccessLog } from "./access_log_types.ts";

export async function verifySource(source: AccessLogSource, check: Check): Promise<VerifiedAccessLog> {
  const { from, heads } = check;
  if (from !== undefined && !isDate(from)) throw new TypeError("from: must be a date such as 2026-01-31");
  const { organization_id, seals } = verifyChain(await source.seals(), await source.keys());
  verifyHeads(seals, heads);
  const chosen = seals.filter(({ date }) => from === undefined || date >= from);
  const entries = await verifyFiles(source, seals, chosen, check);
  const last = seals.at(-1);
  return {
    organization_id,
    entries,
    days: new Set(chosen.map(({ date }) => date)).size,
    head: last ? { date: last.date, seal_sha256: sha256(last.jws) } : null,
    warnings: warningsOf(seals, chosen, check),
  };
}
