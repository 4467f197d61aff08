import type { Context as HonoContext } from "hono";
import { LARGE_BODY_TURN } from "../lifetimes.ts";
import { LARGE_ANSWER, LARGE_BODY_OVER_AFTER, MAX_LARGE_ANSWERS } from "../tuning.ts";
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
  const turn = { overAt: 0 };
  if (!(await waitUntil(() => takeTurn(turn), LARGE_BODY_TURN))) throw largeRequestWaited();
  const end = () => turns.delete(turn);
  try {
    const { parts, headers } = await make();
    const rest = iterate(parts);
    let text = "";
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      text += next.value;
      if (text.length <= LARGE_ANSWER) continue;
      // Of an answer to HEAD nobody takes the body.
      if (c.req.method === "HEAD") break;
      return c.body(streamOf(encoded(text, rest, end)), 200, headers);
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
  turn.overAt = now + LARGE_BODY_OVER_AFTER;
  return true;
}

async function* iterate(parts: Parts["parts"]) {
  yield* parts;
}

async function* encoded(first: string, rest: AsyncGenerator<string>, end: () => void) {
  try {
    yield encoder.encode(first);
    for await (const part of rest) yield encoder.encode(part);
  } finally {
    end();
  }
}

const streamOf = (bytes: AsyncGenerator<Uint8Array>) =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = await bytes.next();
        if (value) controller.enqueue(value);
        else controller.close();
      },
      cancel: () => void bytes.return(undefined),
    },
    { highWaterMark: 0 },
  );
