import type { Context } from "../../context.ts";
import { frozenBefore } from "../../database/moves.ts";
import { runAll } from "../../database/queries.ts";
import { log } from "../../http/log.ts";
import { toTimestamp } from "../../http/wire.ts";
import { FROZEN_AT_MOST } from "../../tuning.ts";

/** Logs the organizations that an interrupted command has left frozen: nobody else notices that their webhooks and retention wait. */
export async function reportFrozen({ db, now }: Context): Promise<number> {
  const frozen = await runAll(db, frozenBefore({ time: now - FROZEN_AT_MOST }));
  for (const { organization_id, since } of frozen)
    log("organization_frozen", { organization_id, since: toTimestamp(since) });
  return frozen.length;
}
