import { digest } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { isMoving } from "../../database/causes.ts";
import { newShardOfCode } from "../../database/moves.ts";
import { type Row, runBatch, runFirst } from "../../database/queries.ts";
import { ApiError } from "../../http/errors.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { consumeCode, redeemedCode, type redeemedCodeColumns } from "./authorization_codes.sql.ts";

export type RedeemedCode = Row<typeof redeemedCodeColumns>;

export const invalidCode = () => new ApiError(401, "invalid_code", "Invalid code");

/**
 * Only one of several requests with a code succeeds. A code from before a move names the old database, so the new one is tried.
 *
 * @throws ApiError 401 if the code is unknown, used or expired, or its user has no account; 403 if the organization is
 *   suspended
 */
export async function redeemCode(context: Context, code: string): Promise<RedeemedCode> {
  const code_digest = await digest(code);
  try {
    return await redeemIn(context, code_digest);
  } catch (error) {
    const moved = isMoving(error) && (await runFirst(context.db, newShardOfCode({ code_digest })));
    if (!moved || !context.shards) throw error;
    return redeemIn(context.shards.enter(moved.shard), code_digest);
  }
}

async function redeemIn({ db, now }: Context, code_digest: string): Promise<RedeemedCode> {
  const [[consumed], [redeemed]] = await runBatch(db, [
    consumeCode({ code_digest, now }),
    redeemedCode({ code_digest }),
  ]);
  if (redeemed?.is_suspended) throw organizationSuspended();
  if (!consumed || !redeemed) throw invalidCode();
  return redeemed;
}
