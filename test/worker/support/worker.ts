import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import type { Fetcher } from "./api.ts";
import { asDeployed } from "./deployed.ts";

/** A fetcher to the Worker with other bindings. The response comes when the background work is done. */
export function throughWorkerWith(bindings: object): Fetcher {
  // Outside the fetcher, because the Worker checks the settings of each new environment, which takes milliseconds.
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
