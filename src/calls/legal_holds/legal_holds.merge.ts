import type { HoldBeginner } from "../../database/enums.ts";
import type { HoldReport } from "./legal_holds.schemas.ts";
import { holdOfPlatform } from "./legal_holds.schemas.ts";
import type { HeldCall } from "./legal_holds.sql.ts";

type Hold = Pick<HeldCall, "hold_begun_by" | "hold_reason">;

/**
 * The hold of a call after a request for one. An omitted reason stays. A hold that the platform requests is the platform's, even if
 * the organization began it.
 *
 * @returns null if nothing changes
 * @throws ApiError 422 if the organization would change a hold of the platform
 */
export function mergeHold(
  { hold_begun_by, hold_reason }: Hold,
  begun_by: HoldBeginner,
  { reason = hold_reason }: HoldReport,
): { begun_by: HoldBeginner; reason: string | null } | null {
  if (hold_begun_by === begun_by && reason === hold_reason) return null;
  requireEndable({ hold_begun_by }, begun_by);
  return { begun_by, reason };
}

/** @throws ApiError 422 if the organization would end or change a hold of the platform */
export function requireEndable({ hold_begun_by }: Pick<Hold, "hold_begun_by">, by: HoldBeginner): void {
  if (hold_begun_by === "platform" && by !== "platform") throw holdOfPlatform();
}
