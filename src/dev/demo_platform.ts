import { VideoVisitError } from "../../dist/client/external/index.js";

/** Sends requests to the platform API of a server. If the service refuses one, throws as the client package does. */
export const platformAt =
  (server: string, token: string | undefined, send = fetch) =>
  async (method: string, path: string, body?: object) => {
    const response = await send(`${server}/api/platform${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body && { "Content-Type": "application/json" }),
      },
      body: body ? JSON.stringify(body) : null,
      // Following a redirect would send the token to its target.
      redirect: "manual",
    });
    // biome-ignore lint/suspicious/noExplicitAny: each caller knows what it asks for
    const answer: any = await response.json().catch(() => null);
    if (!response.ok)
      throw new VideoVisitError(answer?.error ?? "The response did not come from the service", {
        method,
        path,
        failed: "response",
        status: response.status,
      });
    return answer;
  };

export type Platform = ReturnType<typeof platformAt>;
