import { type Failure, VideoVisitError, withoutAddresses } from "./errors.ts";
import { Unacceptable } from "./ndjson.ts";
import { pauseAfter, sleep } from "./pauses.ts";
import type { WireRequest } from "./request.ts";

export interface Attempt {
  request: WireRequest;
  /** Aborts when the caller's signal does, or when nothing has arrived within the timeout. */
  signal: AbortSignal;
  restart: () => void;
  /** Stops the timeout, while the caller works on an item. */
  rest: () => void;
  end: () => void;
  failure: (cause: unknown) => VideoVisitError;
}

/** @param timeout in milliseconds */
export function begin(
  timeout: number,
  request: WireRequest,
  mayHaveSucceeded: boolean,
  signal: AbortSignal | undefined,
): Attempt {
  const controller = new AbortController();
  let failed: Failure = "connection";
  const stop = (why: Failure, reason: unknown) => {
    if (!controller.signal.aborted) failed = why;
    controller.abort(reason);
  };
  const abort = () => stop("aborted", signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const late = () => stop("timeout", new Error(`No response within ${timeout} milliseconds`));
  let timer = setTimeout(late, timeout);
  const rest = () => clearTimeout(timer);
  return {
    request,
    signal: controller.signal,
    rest,
    restart() {
      rest();
      timer = setTimeout(late, timeout);
    },
    end() {
      rest();
      signal?.removeEventListener("abort", abort);
    },
    failure(cause) {
      if (cause instanceof VideoVisitError) return cause;
      if (failed === "aborted") return endedBy(signal, request, mayHaveSucceeded);
      const why = cause instanceof Unacceptable ? "response" : failed;
      const text = {
        response: "The response did not come from the service",
        timeout: `No complete response arrived within ${timeout} milliseconds`,
        connection: "No complete response arrived",
      }[why];
      return new VideoVisitError(text, {
        ...request,
        failed: why,
        mayHaveSucceeded,
        cause: withoutAddresses(cause),
      });
    },
  };
}

/**
 * Waits before the next attempt.
 *
 * @param failed the number of failed attempts, including the one that failed with the error
 * @throws VideoVisitError if the caller's signal ends the pause
 */
export const pause = (
  error: VideoVisitError,
  failed: number,
  signal: AbortSignal | undefined,
  where: WireRequest,
  mayHaveSucceeded: boolean,
): Promise<void> =>
  sleep(pauseAfter(error, failed), signal).catch(() => {
    throw endedBy(signal, where, mayHaveSucceeded);
  });

export const endedBy = (
  signal: AbortSignal | undefined,
  where: WireRequest,
  mayHaveSucceeded: boolean,
): VideoVisitError =>
  new VideoVisitError("The signal ended the request", {
    ...where,
    failed: "aborted",
    mayHaveSucceeded,
    cause: signal?.reason,
  });
