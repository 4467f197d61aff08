import { ApiError, unprocessable } from "../../http/errors.ts";

export const keyWasUsed = () =>
  unprocessable(
    "idempotency_key_reused",
    "Idempotency-Key: was already used for another request; each request needs its own key",
  );

export const secretIsNotStored = (advice: string) =>
  new ApiError(
    409,
    "already_carried_out",
    `The request with this Idempotency-Key was already carried out. ${advice}`,
  );
