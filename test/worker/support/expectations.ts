import { expect } from "vitest";
import type { Answer } from "./api.ts";

/** ISO 8601 in UTC with milliseconds. */
export const aTimestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/**
 * Expects a refusal with exactly the contract's shape.
 *
 * @param error the text, or a pattern in it; by default any text
 */
export function expectRefusal({ status, body }: Answer, expected: number, error: string | RegExp = /\S/) {
  expect({ status, body }).toEqual({
    status: expected,
    body: { error: typeof error === "string" ? error : expect.stringMatching(error) },
  });
}

/** The parts of a response that must not differ between requests. */
export function withoutRequestId({ status, headers, body }: Answer) {
  const { "x-request-id": _, ...others } = Object.fromEntries(headers);
  return { status, headers: others, body };
}

/** Expects the response of a successful DELETE. */
export function expectGone({ status, body }: Answer) {
  expect({ status, body }).toEqual({ status: 204, body: null });
}

/** The refusal of a route whose role the client's user does not have. */
export const expectMissingRole = (answer: Answer) =>
  expectRefusal(
    answer,
    403,
    /^This operation is only for API clients that act as (provider or )?organization_admin: /,
  );
