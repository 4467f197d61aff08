import { sha256, verifyChain, verifyHeads, warningsOf } from "./access_log_chain.ts";
import { verifyFiles } from "./access_log_files.ts";
import type { AccessLogSource, Check, VerifiedAccessLog } from "./access_log_types.ts";

/** The check of a log, wherever it comes from. */
export async function verifySource(source: AccessLogSource, check: Check): Promise<VerifiedAccessLog> {
  const seals = await source.seals();
  const organization_id = verifyChain(seals, await source.keys());
  verifyHeads(seals, check.heads);
  const chosen = seals.filter(({ date }) => !check.from || date >= check.from);
  const entries = await verifyFiles(source, seals, chosen, check);
  const last = seals.at(-1);
  return {
    organization_id,
    entries,
    days: chosen.length,
    head: last ? { date: last.date, seal_sha256: sha256(last.jws) } : null,
    warnings: warningsOf(last, check.now),
  };
}
