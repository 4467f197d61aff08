import type { Context } from "../context.ts";
import { isCausedBy } from "../database/causes.ts";
import type { Database } from "../database/database.ts";
import { runAll, runBatch, runRaw } from "../database/queries.ts";
import { logFault } from "../http/log.ts";
import { CLAIM_KEPT_FOR } from "../limits.ts";
import { type Claim, type ContestedClaim, dropClaim, fence, takeClaim } from "./claims.ts";

/* Claims without a row: nothing in the owner's shard has the key. They are dropped, or taken over. */

/** Drops the claims of a verb that was refused, where no row came of them: others need not wait. */
export async function dropUnused({ shards }: Context, shard: number, claimed: Claim[]) {
  if (!shards || claimed.length === 0) return;
  try {
    const unused = await fenced(shards.databaseOf(shard), claimed);
    if (unused.length > 0) await runRaw(shards.directory, unused.map(dropClaim));
  } catch (error) {
    // They are abandoned: the next claimant takes them over.
    logFault({ chore: "dropClaims" }, error);
  }
}

/** Fences the owner's shard, and returns the claims without a row there. */
async function fenced<Each extends Claim>(db: Database, claims: Each[]): Promise<Each[]> {
  const fences = await runBatch(
    db,
    claims.map((claim) => fence[claim.kind](claim)),
  );
  return claims.filter((_, n) => fences[n]?.length);
}

/** True for a claim that a request left without a row, or that is so old that its owner is to be asked. */
const isAbandoned = ({ claimed_at }: ContestedClaim) => claimed_at < Date.now() - CLAIM_KEPT_FOR;

/**
 * Takes over claims without a row: a request died before it wrote that.
 *
 * @returns those as they were
 */
export async function takeAbandoned(
  { shards }: Context,
  contested: ContestedClaim[],
): Promise<ContestedClaim[]> {
  const taken: ContestedClaim[] = [];
  if (!shards) return taken;
  // What organizations of the first database have is in no claim.
  for (const claim of contested.filter((each) => each.shard > 0 && isAbandoned(each))) {
    const [free] = await fenced(shards.databaseOf(claim.shard), [claim]);
    if (!free) continue;
    const take = claim.claimant_shard === 0 ? dropClaim(claim) : takeClaim({ ...claim, now: Date.now() });
    await runAll(shards.directory, take);
    taken.push(claim);
  }
  return taken;
}

/** What triggers say of a claim that came between reading and writing (see triggers/shards.sql). */
const CLAIMED = "the key is claimed elsewhere";

/** True for the error of a write that came after its claim had gone. */
export const isClaimedElsewhere = (error: unknown): boolean =>
  isCausedBy(error, ({ message }) => message.includes(CLAIMED));
