import { ApiError } from "../../http/errors.ts";

export const cannotSign = () =>
  new ApiError(
    406,
    "not_acceptable",
    "This service has no signing key, so it cannot sign a vCon: ask for application/vcon+json",
  );
