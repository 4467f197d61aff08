/**
 * What failed: no connection, or one that broke; no response in time; the caller's `signal`; or a response came, and it is a
 * refusal, or not one of the service.
 */
export type Failure = "connection" | "timeout" | "aborted" | "response";

/** Why a request has failed. */
export class VideoVisitError extends Error {
  /** `GET`, for example. */
  readonly method: string;
  /** The path of the request, without what it asked for. */
  readonly path: string;
  readonly failed: Failure;
  /** The status of the response; undefined if no whole response came. */
  readonly status: number | undefined;
  /** What is wrong, and what would be right, as the service says it. Show it to people, or log it. */
  readonly text: string;
  /** Name it when you report a problem: the operator finds the request by it. */
  readonly requestId: string | undefined;
  /** After how many seconds the service wants the request again, if it says so. */
  readonly retryAfter: number | undefined;
  /**
   * Whether the service may have done all the same what it was asked, in the last attempt or in one before: the connection
   * broke, or the service had a fault. A room that an attempt has renamed, for example, is 404 for the next one. Look before
   * you do it again.
   */
  readonly mayHaveSucceeded: boolean;

  constructor(
    text: string,
    { method, path, failed, status, requestId, retryAfter, mayHaveSucceeded = false, cause }: Details,
  ) {
    super(`${method} ${path}: ${status === undefined ? "" : `${status}: `}${text}`, { cause });
    this.name = "VideoVisitError";
    this.method = method;
    this.path = path;
    this.failed = failed;
    this.status = status;
    this.text = text;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.mayHaveSucceeded = mayHaveSucceeded;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    const { status = 0 } = this;
    if (this.failed === "response") return status === 408 || status === 429 || status >= 500;
    return this.failed !== "aborted";
  }
}

/** What is known of a failure. Without a response, its `cause` is what the runtime says of it, or the reason of the signal. */
type Details = Pick<VideoVisitError, "method" | "path" | "failed"> &
  Partial<Pick<VideoVisitError, "status" | "requestId" | "retryAfter" | "mayHaveSucceeded">> & {
    cause?: unknown;
  };

/** What a runtime says of a failure. Some say it with the address, of which the query may name a patient. */
export function withoutAddresses(cause: unknown, depth: number = 0): Error | undefined {
  if (!(cause instanceof Error) || depth > 3) return undefined;
  const { name, message, code } = cause as Error & { code?: unknown };
  const inner = withoutAddresses(cause.cause, depth + 1);
  const said = new Error(message.replace(/\b[a-z]+:\/\/\S*/gi, "…"), inner && { cause: inner });
  return Object.assign(said, { name, ...(typeof code === "string" && { code }) });
}

/** A webhook that the service did not send, or that came too late to be believed. */
export class WebhookVerificationError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "WebhookVerificationError";
  }
}
