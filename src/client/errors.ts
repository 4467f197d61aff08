/** Why a request has failed: the service refused it, or no whole response came. */
export class VideoVisitError extends Error {
  /** The status of the response; undefined if no whole response came. */
  readonly status: number | undefined;
  /** What is wrong, and what would be right, as the service says it. Show it to people, or log it. */
  readonly text: string;
  /** Name it when you report a problem: the operator finds the request by it. */
  readonly requestId: string | undefined;
  /** After how many seconds the service wants the request again, if it says so. */
  readonly retryAfter: number | undefined;

  constructor(
    text: string,
    {
      status,
      requestId,
      retryAfter,
      cause,
    }: { status?: number; requestId?: string; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(status === undefined ? text : `${status}: ${text}`, { cause });
    this.name = "VideoVisitError";
    this.status = status;
    this.text = text;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }
}

/** A webhook that the service did not send, or that came too late to be believed. */
export class WebhookVerificationError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "WebhookVerificationError";
  }
}
