import type { ErrorCode, ErrorCodes } from "../../dist/client/external/operations.gen.js";

/**
 * Why a request failed:
 * - `connection`: no connection could be made, or it broke.
 * - `timeout`: no complete response arrived in time.
 * - `aborted`: your `signal` ended the request.
 * - `response`: the response is an error, or did not come from the service.
 */
export type Failure = "connection" | "timeout" | "aborted" | "response";

/** A request that failed. */
export class VideoVisitError extends Error {
  /** For example `GET`. */
  readonly method: string;
  /** The path of the request, without its query. */
  readonly path: string;
  readonly failed: Failure;
  /** The status of the response; undefined if no complete response arrived. */
  readonly status: number | undefined;
  /** The `Error-Code` of the response, if it has one. Later versions of the service may add codes. */
  readonly code: ErrorCode | undefined;
  /** The name of the client's function that failed; undefined if the request was not made by one. */
  readonly operation: keyof ErrorCodes | undefined;
  /** The error's text, from the service if it sent one: what is wrong and how to correct it. Show it to people, or log it. */
  readonly text: string;
  /** The id of the request. Include it when you report a problem, so that the operator can find the request. */
  readonly requestId: string | undefined;
  /** The number of seconds to wait before the next attempt, if the response has a `Retry-After` header. */
  readonly retryAfter: number | undefined;
  /**
   * Whether the service may have carried out the request in spite of the error, in the last attempt or an earlier one: the
   * connection broke, or the service had an internal error. Check before you repeat it. For example, if an attempt renamed a room
   * but its response was lost, the next attempt gets 404.
   */
  readonly mayHaveSucceeded: boolean;

  constructor(text: string, details: Details) {
    const { method, path, status, cause } = details;
    super(`${method} ${path}: ${status === undefined ? "" : `${status}: `}${text}`, { cause });
    this.name = "VideoVisitError";
    this.method = method;
    this.path = path;
    this.operation = details.operation;
    this.failed = details.failed;
    this.status = status;
    this.code = details.code;
    this.text = text;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.mayHaveSucceeded = details.mayHaveSucceeded ?? false;
  }

  /** Whether the error is from this function. If so, `code` is narrowed to the function's codes. */
  isFrom<Name extends keyof ErrorCodes>(
    operation: Name,
  ): this is { readonly code: ErrorCodes[Name] | undefined } {
    return this.operation === operation;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    const { status = 0 } = this;
    if (this.failed === "response") return status === 408 || status === 429 || status >= 500;
    return this.failed !== "aborted";
  }
}

/** Without a response, `cause` is the runtime's error or the signal's reason. */
type Details = Pick<VideoVisitError, "method" | "path" | "failed"> &
  Partial<
    Pick<VideoVisitError, "operation" | "status" | "code" | "requestId" | "retryAfter" | "mayHaveSucceeded">
  > & {
    cause?: unknown;
  };

/** Copies a runtime's error without the URLs in its messages: a URL's query may name a patient. */
export function withoutAddresses(cause: unknown, depth: number = 0): Error | undefined {
  if (!(cause instanceof Error) || depth > 3) return undefined;
  const { name, message, code } = cause as Error & { code?: unknown };
  const inner = withoutAddresses(cause.cause, depth + 1);
  const said = new Error(message.replace(/\b[a-z]+:\/\/\S*/gi, "…"), inner && { cause: inner });
  return Object.assign(said, { name, ...(typeof code === "string" && { code }) });
}

/** A webhook that the service did not send, or that is too old to be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name: string = "WebhookVerificationError";
}
