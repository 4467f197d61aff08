import { request } from "node:http";

/**
 * Sends a body without its last byte, and waits for the response.
 *
 * @param size the declared size in bytes
 * @returns the status, or 0 if the connection broke
 */
export function sendUnfinished(
  url: string,
  credentials: Record<string, string>,
  { method, path, size }: { method: string; path: string; size: number },
): Promise<number> {
  return new Promise((resolve) => {
    const options = { method, headers: { ...credentials, "Content-Length": size }, agent: false };
    const sent = request(`${url}/api/external${path}`, options, (response) => {
      response.resume();
      // An error without a code is the local proxy's: a connection broke behind it.
      resolve(response.headers["error-code"] ? (response.statusCode ?? 0) : 0);
      sent.destroy();
    });
    sent.on("error", () => resolve(0));
    sent.write(Buffer.alloc(size - 1, " "));
  });
}
