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
  /**
   * Whether the service may have done all the same what it was asked, in the last attempt or in one before: the connection
   * broke, or the service had a fault. A room that an attempt has renamed, for example, is 404 for the next one. Look before
   * you do it again.
   */
  readonly mayHaveSucceeded: boolean;

  constructor(
    text: string,
    {
      status,
      requestId,
      retryAfter,
      mayHaveSucceeded = false,
      cause,
    }: {
      status?: number | undefined;
      requestId?: string | undefined;
      retryAfter?: number | undefined;
      mayHaveSucceeded?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(status === undefined ? text : `${status}: ${text}`, { cause });
    this.name = "VideoVisitError";
    this.status = status;
    this.text = text;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.mayHaveSucceeded = mayHaveSucceeded;
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
