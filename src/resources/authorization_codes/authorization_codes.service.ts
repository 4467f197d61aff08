import { digest } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { invalidCode } from "./authorization_codes.refusals.ts";
import type { RedeemedCode } from "./authorization_codes.schemas.ts";
import { consumeCode, redeemedCode } from "./authorization_codes.sql.ts";

/**
 * Consumes a code: if several requests send it at once, only one of them learns who signed in.
 *
 * @throws ApiError 401 if the code is unknown, used or expired, or its user has no account any more
 */
export async function redeemCode({ db, now }: Context, code: string): Promise<RedeemedCode> {
  const code_digest = await digest(code);
  const [[consumed], [redeemed]] = await runBatch(db, [
    consumeCode({ code_digest, now }),
    redeemedCode({ code_digest }),
  ]);
  if (!consumed || !redeemed) throw invalidCode();
  return redeemed;
}
