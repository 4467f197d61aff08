import fc from "fast-check";
import { ApiError } from "../../../src/http/errors.ts";

export function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return error.message;
    throw error;
  }
  throw new Error("The report was not refused");
}

/**
 * Returns a function that checks every accepted report in random sequences of reports on one record, each a millisecond
 * after the other. The check gets the record before, the record after, and the report.
 */
export function eachReport<Report, Row>(
  report: fc.Arbitrary<Report>,
  merge: (known: Row | undefined, report: Report, now: number) => Row,
) {
  return (check: (known: Row | undefined, next: Row, report: Report, now: number) => void) =>
    fc.assert(
      fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
        let known: Row | undefined;
        for (const [now, each] of reports.entries()) {
          const next = unlessRefused(() => merge(known, each, now));
          if (next === undefined) continue;
          check(known, next, each, now);
          known = next;
        }
      }),
    );
}

function unlessRefused<Row>(work: () => Row): Row | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
