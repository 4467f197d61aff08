/** Calls Cloudflare's REST API with wrangler's login and account. */
import { configFlags, runWrangler, type Target } from "./wrangler.ts";
import { readConfiguration } from "./wrangler_config.ts";

export type Account = Pick<Target, "config" | "env">;

/** Cached for the process, because each needs a start of wrangler. */
let login: Promise<Record<string, string>> | undefined;
let account: Promise<string> | undefined;

interface Answer<Result> {
  success: boolean;
  errors: { code: number; message: string }[];
  result: Result;
}

interface Asking {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Sent as JSON. */
  body?: object;
  bytes?: Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** An error response of Cloudflare. Its message names resources, tables and columns, but no data of rows. */
export class CloudflareError extends Error {
  readonly status: number;
  readonly codes: number[];

  constructor(message: string, status: number, codes: number[]) {
    super(message);
    this.status = status;
    this.codes = codes;
  }
}

const NEEDED_PERMISSIONS = "Workers Scripts: Edit, D1: Edit, Queues: Edit and Workers R2 Storage: Edit";

const NO_ACCESS = `The login, or CLOUDFLARE_API_TOKEN, is wrong, has expired, or lacks a permission. It needs ${NEEDED_PERMISSIONS}.`;

/** Advice by Cloudflare's error code. wrangler prints the codes too, except 7502. */
const ADVICE: Record<number, string> = {
  10000: NO_ACCESS,
  9109: NO_ACCESS,
  1000: NO_ACCESS,
  6003: NO_ACCESS,
  10042: "R2 is not turned on. Turn it on in Cloudflare's dashboard, under R2 object storage.",
  7502: "The name is taken. Choose another database_name in wrangler.toml.",
  10004: "The name is taken. Choose another bucket_name in wrangler.toml.",
  11009: "The name is taken. Choose another queue in wrangler.toml, for its producer and its consumer.",
};

/** Adds the failed step to an error, and advice if the error is known. */
export function explained(step: string, error: unknown): Error {
  const { message } = error as Error;
  const printed = [...message.matchAll(/\[code: (\d+)\]/g)].map(([, code]) => Number(code));
  const codes = error instanceof CloudflareError ? error.codes : printed;
  if (message.includes("A database with that name already exists")) codes.push(7502);
  const advice = codes.map((code) => ADVICE[code]).find((each) => each !== undefined);
  return new Error([`${step}: failed.`, advice, message.trim()].filter(Boolean).join("\n"));
}

/** @param path relative to the account's path */
export async function sendToCloudflare(target: Account, path: string, asking: Asking = {}) {
  login ??= readLogin(target);
  const headers = await login;
  account ??= readAccount(target);
  const base = process.env.CLOUDFLARE_API_BASE_URL || "https://api.cloudflare.com/client/v4";
  const url = `${base}/accounts/${await account}${path}`;
  let response = await send(url, headers, asking);
  // A login expires after an hour. wrangler renews it when it is read again.
  if (response.status === 401 || response.status === 403) {
    login = readLogin(target);
    response = await send(url, await login, asking);
  }
  return response;
}

/** @throws CloudflareError if the API refuses the request */
export async function askCloudflare<Result>(target: Account, path: string, asking?: Asking): Promise<Result> {
  const response = await sendToCloudflare(target, path, asking);
  const answer = (await response.json().catch(() => undefined)) as Answer<Result> | undefined;
  if (answer?.success) return answer.result;
  const errors = answer?.errors ?? [];
  const messages = errors.map(({ message }) => message).join("; ");
  throw new CloudflareError(
    `Cloudflare's API answered ${response.status}${messages ? `: ${messages}` : ""}`,
    response.status,
    errors.map(({ code }) => code),
  );
}

/** Like `askCloudflare`, but returns undefined for 404. */
export async function findAtCloudflare<Result>(
  target: Account,
  path: string,
  asking?: Asking,
): Promise<Result | undefined> {
  try {
    return await askCloudflare<Result>(target, path, asking);
  } catch (error) {
    if (error instanceof CloudflareError && error.status === 404) return undefined;
    throw error;
  }
}

export interface DatabaseAtCloudflare {
  uuid: string;
  name: string;
  jurisdiction?: string | null;
  read_replication?: { mode: string };
}

/** Finds the account's database of this name. The result lacks the database's settings. */
export async function databaseAtCloudflare(target: Account, name: string) {
  const path = `/d1/database?name=${encodeURIComponent(name)}`;
  const found = await askCloudflare<DatabaseAtCloudflare[]>(target, path);
  return found.find((each) => each.name === name);
}

async function send(url: string, login: Record<string, string>, { method, body, bytes, headers }: Asking) {
  try {
    return await fetch(url, {
      headers: { ...login, "Content-Type": "application/json", ...headers },
      method: method ?? (body ? "POST" : "GET"),
      ...((bytes ?? body) && { body: bytes ?? JSON.stringify(body) }),
    });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(
      `Cloudflare's API cannot be reached: ${cause instanceof Error ? cause.message : message}`,
    );
  }
}

export class LoginError extends Error {
  constructor(message = "") {
    super(`Run \`npx wrangler login\`, or set CLOUDFLARE_API_TOKEN.\n${message}`.trim());
  }
}

const askWrangler = async (target: Account, ...command: string[]) =>
  JSON.parse(await runWrangler([...command, "--json", ...configFlags(target)]));

async function readLogin(target: Account): Promise<Record<string, string>> {
  const given = process.env.CLOUDFLARE_API_TOKEN;
  const { token } = given
    ? { token: given }
    : await askWrangler(target, "auth", "token").catch((error) => {
        throw new LoginError(error.message);
      });
  if (token) return { Authorization: `Bearer ${token}` };
  throw new LoginError();
}

/** @throws Error if the login has several accounts and none is configured */
async function readAccount(target: Account): Promise<string> {
  const named = readConfiguration(target).account_id || process.env.CLOUDFLARE_ACCOUNT_ID;
  if (named) return named;
  const { accounts = [] } = await askWrangler(target, "whoami");
  if (accounts.length !== 1)
    throw new Error(`Choose an account: set account_id in ${target.config}, or CLOUDFLARE_ACCOUNT_ID.`);
  // Otherwise wrangler's commands might use an account that was chosen earlier.
  process.env.CLOUDFLARE_ACCOUNT_ID = accounts[0].id;
  return accounts[0].id;
}
