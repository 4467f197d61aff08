import { unprocessable } from "../../http/errors.ts";

export const holdOfPlatform = () =>
  unprocessable(
    "hold_of_platform",
    "The platform began this legal hold: only the platform can change or end it",
  );
