import { unprocessable } from "../../http/errors.ts";

export const HOLD_STAYS = {
  began_at: "a hold begins with the request that places it",
  begun_by: "it follows who sends the request",
};

export const holdOfPlatform = () =>
  unprocessable(
    "hold_of_platform",
    "The platform began this legal hold: only the platform can change or end it",
  );
