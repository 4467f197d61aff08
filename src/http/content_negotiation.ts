import type { Context as HonoContext } from "hono";
import { accepts } from "hono/accepts";

export async function inWantedType(
  c: HonoContext,
  answers: Record<string, () => Response | Promise<Response>>,
): Promise<Response> {
  const answer = answers[wantedType(c, Object.keys(answers))] as (typeof answers)[string];
  const response = await answer();
  response.headers.set("Vary", "Accept");
  return response;
}

/** The first type is the default, and wins a tie. */
export function wantedType(c: HonoContext, [first = "", ...others]: readonly string[]): string {
  return accepts(c, {
    header: "Accept",
    supports: [first, ...others],
    default: first,
    // Hono's default ignores `*/*`. A caller that names no type, only a range such as `text/*`, gets the default.
    match: (ranges) => {
      const wanted = others.filter((type) => ranges.some((range) => range.type.toLowerCase() === type));
      return wanted.reduce(
        (best, type) => (quality(type, ranges) > quality(best, ranges) ? type : best),
        first,
      );
    },
  });
}

/** The most specific range that includes the type counts (RFC 9110, 12.5.1). */
function quality(type: string, ranges: { type: string; q: number }[]): number {
  const [ofType, ofMainType, ofAll] = [type, type.replace(/\/.*/, "/*"), "*/*"].map((range) =>
    ranges.filter((each) => each.type.toLowerCase() === range),
  );
  const counting = [ofType, ofMainType, ofAll].find((each) => each && each.length > 0) ?? [];
  return Math.max(0, ...counting.map(({ q }) => q));
}
