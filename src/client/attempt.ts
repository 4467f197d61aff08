/** One attempt of a request: what ends it, and what its failure means. */
import { type Failure, VideoVisitError, withoutAddresses } from "./errors.ts";
import { Unacceptable } from "./ndjson.ts";
import { pauseAfter, sleep } from "./pauses.ts";
import type { WireRequest } from "./request.ts";

/** An attempt, until it has all that it waits for, or fails. */
export interface Attempt {
  request: WireRequest;
  /** Ends it, when the caller wants, or when nothing has come for so long. */
  signal: AbortSignal;
  /** The time of the service runs again from now on; and it does not run while the caller is at work. */
  restart: () => void;
  rest: () => void;
  end: () => void;
  /** The error of a failure. */
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
        response: "The response is not one of the service",
        timeout: `No whole response came within ${timeout} milliseconds`,
        connection: "No whole response came",
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
 * @param failed how many attempts have failed, the last of them with the error
 * @throws VideoVisitError if the caller's signal ends it
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

/** What the end of the caller's signal means. */
export const endedBy = (
  signal: AbortSignal | undefined,
  where: WireRequest,
  mayHaveSucceeded: boolean,
): VideoVisitError =>
  new VideoVisitError("The signal ended it", {
    ...where,
    failed: "aborted",
    mayHaveSucceeded,
    cause: signal?.reason,
  });
