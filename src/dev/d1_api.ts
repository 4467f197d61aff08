/** D1's REST API, with the login and the account of wrangler's own commands. */
import { configFlags, runWrangler, type Target } from "./wrangler.ts";
import { readConfiguration } from "./wrangler_config.ts";

/** Asked for once in a process: each takes a start of wrangler. */
let login: Promise<Record<string, string>> | undefined;
let account: Promise<string> | undefined;

interface Answer<Result> {
  success: boolean;
  errors: { message: string }[];
  result: Result;
}

/**
 * Asks the API about a path below that of all databases: by POST if there is a body, else by GET.
 *
 * @throws Error with what the API says, which names tables and columns, and nothing of the rows
 */
export async function askD1<Result>(target: Target, path: string, body?: object): Promise<Result> {
  login ??= readLogin(target);
  const headers = await login;
  account ??= readAccount(target);
  const base = process.env.CLOUDFLARE_API_BASE_URL || "https://api.cloudflare.com/client/v4";
  const url = `${base}/accounts/${await account}/d1/database${path}`;
  let response = await send(url, headers, body);
  // A login expires after an hour. Asked again, wrangler renews it.
  if (response.status === 401 || response.status === 403) {
    login = readLogin(target);
    response = await send(url, await login, body);
  }
  const answer = (await response.json().catch(() => undefined)) as Answer<Result> | undefined;
  if (answer?.success) return answer.result;
  const messages = answer?.errors?.map(({ message }) => message).join("; ");
  throw new Error(`D1's API answered ${response.status}${messages ? `: ${messages}` : ""}`);
}

/** The id of the account's database of this name, or undefined if there is none. */
export async function idAtCloudflare(target: Target, name: string): Promise<string | undefined> {
  const path = `?name=${encodeURIComponent(name)}`;
  const found: { uuid: string; name: string }[] = await askD1(target, path);
  return found.find((each) => each.name === name)?.uuid;
}

async function send(url: string, headers: Record<string, string>, body?: object): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { ...headers, "Content-Type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(`D1's API cannot be reached: ${cause instanceof Error ? cause.message : message}`);
  }
}

const askWrangler = async (target: Target, ...command: string[]) =>
  JSON.parse(await runWrangler([...command, "--json", ...configFlags(target)]));

async function readLogin(target: Target): Promise<Record<string, string>> {
  const given = process.env.CLOUDFLARE_API_TOKEN;
  const { token, key, email } = given ? { token: given } : await askWrangler(target, "auth", "token");
  if (token) return { Authorization: `Bearer ${token}` };
  if (key) return { "X-Auth-Key": key, "X-Auth-Email": email };
  throw new Error("Set CLOUDFLARE_API_TOKEN, or run `npx wrangler login`.");
}

/** @throws Error if nothing says which of several it is */
async function readAccount(target: Target): Promise<string> {
  const named = readConfiguration(target).account_id || process.env.CLOUDFLARE_ACCOUNT_ID;
  if (named) return named;
  const { accounts = [] } = await askWrangler(target, "whoami");
  if (accounts.length !== 1)
    throw new Error(`Say which account: with account_id in ${target.config}, or with CLOUDFLARE_ACCOUNT_ID.`);
  // Otherwise wrangler's commands may take one that somebody chose earlier.
  process.env.CLOUDFLARE_ACCOUNT_ID = accounts[0].id;
  return accounts[0].id;
}
