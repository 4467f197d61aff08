import { ApiError } from "../../http/errors.ts";
import { EXPORT_LEASE } from "../../lifetimes.ts";
import { SECOND } from "../../units.ts";

const RETRY_AFTER = EXPORT_LEASE / SECOND;

export const exportRunning = () =>
  new ApiError(
    429,
    "export_running",
    `Another export of the organization is running: try again once it has ended, or in ${RETRY_AFTER} seconds if it was broken off`,
    { headers: { "Retry-After": String(RETRY_AFTER) } },
  );
