import { unprocessable } from "../../http/errors.ts";

export const endpointNotActive = () =>
  unprocessable("endpoint_inactive", "The webhook endpoint is not active: activate it first");

export const webhooksQuiet = () =>
  unprocessable(
    "service_quiet",
    "The service was restored from a backup and sends no webhooks until its operator resumes it",
  );
