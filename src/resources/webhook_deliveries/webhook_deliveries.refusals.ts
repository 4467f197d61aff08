import { unprocessable } from "../../http/errors.ts";

export const endpointNotActive = () => unprocessable("The webhook endpoint is not active: activate it first");
