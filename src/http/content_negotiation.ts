import type { Context as HonoContext } from "hono";
import { accepts } from "hono/accepts";

/** Answers with the media type that the caller wants. Errors are JSON for everybody. */
export async function inWantedType(
  c: HonoContext,
  answers: Record<string, () => Response | Promise<Response>>,
): Promise<Response> {
  const answer = answers[wantedType(c, Object.keys(answers))] as (typeof answers)[string];
  const response = await answer();
  response.headers.set("Vary", "Accept");
  return response;
}

/** The media type that the caller's `Accept` wants most: the first of those that it wants as much, or where it wants none. */
export function wantedType(c: HonoContext, [first = "", ...others]: readonly string[]): string {
  return accepts(c, {
    header: "Accept",
    supports: [first, ...others],
    default: first,
    // Hono's own way does not look at `*/*`. Who names no type, `text/*` for example, wants what everybody gets.
    match: (ranges) => {
      const wanted = others.filter((type) => ranges.some((range) => range.type.toLowerCase() === type));
      return wanted.reduce(
        (best, type) => (quality(type, ranges) > quality(best, ranges) ? type : best),
        first,
      );
    },
  });
}

/** A media type or a range of them, and how much the caller wants it. */
interface Range {
  type: string;
  q: number;
}

/** How much a type is wanted, 0 to 1: of the ranges that it is in, the most specific counts (RFC 9110, 12.5.1). */
function quality(type: string, ranges: Range[]): number {
  const [ofType, ofMainType, ofAll] = [type, type.replace(/\/.*/, "/*"), "*/*"].map((range) =>
    ranges.filter((each) => each.type.toLowerCase() === range),
  );
  const counting = [ofType, ofMainType, ofAll].find((each) => each && each.length > 0) ?? [];
  return Math.max(0, ...counting.map(({ q }) => q));
}
