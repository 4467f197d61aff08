import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import type { Fetcher } from "./api.ts";
import { asDeployed } from "./deployed.ts";

/** A way to the Worker with other bindings. The response comes when the background work is done. */
export function throughWorkerWith(bindings: object): Fetcher {
  // The Worker checks the settings of each environment that it meets, which takes milliseconds.
  const bound = asDeployed({ ...env, ...bindings });
  return async (request) => {
    const context = createExecutionContext();
    const response = await worker.fetch(
      request as Request<unknown, IncomingRequestCfProperties>,
      bound,
      context,
    );
    await waitOnExecutionContext(context);
    return response;
  };
}
