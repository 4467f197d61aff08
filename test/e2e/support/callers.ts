import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { DEMO_CLIENT } from "../../../src/reference/demo_client.ts";

export function caller(base: string, credentials: Record<string, string>) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(base + path, {
      method,
      headers: { ...credentials, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    // Wrangler's proxy answers without JSON if the service refuses a body before it has read it.
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(text) : text || null };
  };
}

/** The settings that `npm run dev` gave the server. */
export const devVars = () => parseEnv(readFileSync(".dev.vars", "utf8"));

export const platformToken = () => devVars().PLATFORM_API_TOKEN;

export const demoCaller = (url: string) =>
  caller(`${url}/api/external`, {
    "X-Client-ID": DEMO_CLIENT.client_id,
    "X-Client-Secret": DEMO_CLIENT.client_secret,
  });

export const platformCaller = (url: string) =>
  caller(`${url}/api/platform`, { Authorization: `Bearer ${platformToken()}` });
