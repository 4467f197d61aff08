import { cleanUp } from "../../database/clean_up.ts";
import { idempotencyKeys } from "../../database/schema.ts";
import { IDEMPOTENCY_KEY_KEPT_FOR } from "../../lifetimes.ts";

export const deleteOldIdempotencyKeys = cleanUp(
  idempotencyKeys,
  idempotencyKeys.created_at,
  IDEMPOTENCY_KEY_KEPT_FOR,
);
