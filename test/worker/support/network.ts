type Endpoint = (request: Request) => Promise<Response>;

const shared = globalThis as typeof globalThis & { endpointsMet?: Map<string, Endpoint> };

/**
 * The endpoints that the Worker reaches with `fetch` instead of the network, by URL. There is one map for the whole run,
 * because this module is loaded again for each test file and the Worker is not.
 */
export const endpoints = shared.endpointsMet ?? interceptFetch();

/** Behaves like the network: aborted requests fail, and redirects are followed on request. */
function interceptFetch() {
  const met = new Map<string, Endpoint>();
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const endpoint = met.get(request.url);
    if (!endpoint) return realFetch(request);
    const response = await Promise.race([endpoint(request), givenUp(init?.signal)]);
    const location = response.headers.get("Location");
    return location && request.redirect === "follow" ? globalThis.fetch(location, init) : response;
  };
  shared.endpointsMet = met;
  return met;
}

function givenUp(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}
