import { unprocessable } from "../../http/errors.ts";

export const endpointNotActive = () => unprocessable("The webhook endpoint is not active: activate it first");

export const webhooksQuiet = () =>
  unprocessable(
    "The service was restored from a backup, and sends no webhooks until its operator resumes it",
  );
