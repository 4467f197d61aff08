import type { Context as HonoContext } from "hono";
import { LARGE_BODY_TURN } from "../lifetimes.ts";
import { LARGE_ANSWER, LARGE_ANSWER_OVER_AFTER, MAX_LARGE_ANSWERS } from "../tuning.ts";
import { largeRequestWaited } from "./errors.ts";
import { waitUntil } from "./look_again.ts";

/** Who makes an answer now. Who never takes it to its end has had its turn after a time. */
const turns = new Set<{ overAt: number }>();

const encoder = new TextEncoder();

/** The parts of a text that may be long, one after the other, and the headers that go before it. */
export interface Parts {
  parts: AsyncIterable<string> | Iterable<string>;
  headers: Record<string, string>;
}

/**
 * Answers with a text that may be long. Only so many are made at once in an isolate, from reading on: all together could take
 * more memory than it has, and slow the requests of others. A long one is made while the caller takes it.
 *
 * @throws ApiError 503 if the turn has not come after LARGE_BODY_TURN
 */
export async function answerInTurn(c: HonoContext, make: () => Promise<Parts>): Promise<Response> {
  const turn = { overAt: Date.now() + LARGE_ANSWER_OVER_AFTER };
  if (!(await waitUntil(() => takeTurn(turn), LARGE_BODY_TURN))) throw largeRequestWaited();
  const end = () => turns.delete(turn);
  try {
    const { parts, headers } = await make();
    const rest = asIterator(parts);
    let text = "";
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      text += next.value;
      if (text.length <= LARGE_ANSWER) continue;
      // Of an answer to HEAD nobody takes the body.
      if (c.req.method === "HEAD") break;
      return c.body(streamOf(text, rest, end), 200, headers);
    }
    end();
    return c.body(text, 200, headers);
  } catch (error) {
    end();
    throw error;
  }
}

function takeTurn(turn: { overAt: number }): boolean {
  const now = Date.now();
  for (const each of turns) if (each.overAt <= now) turns.delete(each);
  if (turns.size >= MAX_LARGE_ANSWERS) return false;
  turns.add(turn);
  turn.overAt = now + LARGE_ANSWER_OVER_AFTER;
  return true;
}

type Rest = AsyncIterator<string> | Iterator<string>;

const asIterator = (parts: Parts["parts"]): Rest =>
  Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();

const streamOf = (first: string, rest: Rest, end: () => void) =>
  new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(first));
      },
      async pull(controller) {
        try {
          const next = await rest.next();
          if (!next.done) return controller.enqueue(encoder.encode(next.value));
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel() {
        end();
        await rest.return?.();
      },
    },
    { highWaterMark: 0 },
  );
