import { ApiError, unprocessable } from "../../http/errors.ts";

export const keyWasUsed = () =>
  unprocessable("Idempotency-Key: was used for another request; each request needs a key of its own");

/** @param advice what the caller can do without the secret */
export const secretIsNotStored = (advice: string) =>
  new ApiError(409, `The request with this Idempotency-Key was carried out. ${advice}`);
