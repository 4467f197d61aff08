import fc from "fast-check";
import { ApiError } from "../../../src/http/errors.ts";

/** The message of a refusal. */
export function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return error.message;
    throw error;
  }
  throw new Error("The report was not refused");
}

/** Sequences of reports on one record, each a millisecond after the other. Refused reports leave the record. */
export function sequences<Report, Row>(
  report: fc.Arbitrary<Report>,
  merge: (known: Row | undefined, report: Report, now: number) => Row,
) {
  return {
    /**
     * Checks something of every report that is not refused.
     *
     * @param check gets the record before, the record after, and a way to report the same again later
     */
    afterEach(check: (known: Row | undefined, next: Row, again: () => Row, report: Report) => void) {
      fc.assert(
        fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
          let known: Row | undefined;
          for (const [now, each] of reports.entries()) {
            const next = mergeUnlessRefused(known, each, now);
            if (next === undefined) continue;
            check(known, next, () => merge(next, each, now + 1), each);
            known = next;
          }
        }),
      );
    },
  };

  function mergeUnlessRefused(known: Row | undefined, each: Report, now: number): Row | undefined {
    try {
      return merge(known, each, now);
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }
}
