import type { Context as HonoContext } from "hono";
import {
  ANSWER_STALLED_AFTER,
  LARGE_ANSWER,
  LARGE_ANSWER_ALONE,
  LARGE_REQUEST_ALONE,
  MAX_LARGE_ANSWERS,
} from "../tuning.ts";
import { type Turn, takeTurn } from "./large_requests.ts";
import { logFault } from "./log.ts";

const turns = new Set<Turn>();

const encoder = new TextEncoder();

/** The parts of a text that may be long, one after the other, and the headers that go before it. */
export interface Parts {
  parts: AsyncIterable<string> | Iterable<string>;
  headers: Record<string, string>;
}

/**
 * Answers with a text that may be long. Few of them are made at once in an isolate, from reading on. One that turns out to be long
 * is made while the caller takes it, and for a moment no other begins.
 *
 * @throws ApiError 503 if its turn does not come
 */
export async function answerInTurn(c: HonoContext, make: () => Promise<Parts>): Promise<Response> {
  const turn = await takeTurn(turns, MAX_LARGE_ANSWERS, LARGE_ANSWER_ALONE);
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
      turn.aloneUntil = Date.now() + LARGE_REQUEST_ALONE;
      return c.body(streamOf(text, rest, end, c.var.requestId), 200, headers);
    }
    end();
    return c.body(text, 200, headers);
  } catch (error) {
    end();
    throw error;
  }
}

async function* iterate(parts: Parts["parts"]) {
  yield* parts;
}

/** The stream lives until the caller has it all, and what it is made from takes more memory: so it lets go of that at the end. */
function streamOf(first: string, others: AsyncGenerator<string>, onEnd: () => void, request_id: string) {
  let begin: string | undefined = first;
  let rest: AsyncGenerator<string> | undefined = others;
  let controlled: ReadableStreamDefaultController | undefined;
  let stalled = setTimeout(giveUp, ANSWER_STALLED_AFTER);
  function giveUp() {
    end();
    controlled?.error(new Error("The caller does not take the answer"));
  }
  function end() {
    clearTimeout(stalled);
    rest?.return(undefined).catch(() => {});
    rest = undefined;
    onEnd();
  }
  async function nextPart() {
    const part = begin ?? (await rest?.next())?.value;
    begin = undefined;
    return part;
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controlled = controller;
      },
      async pull(controller) {
        clearTimeout(stalled);
        try {
          const part = await nextPart();
          if (part === undefined) {
            end();
            return controller.close();
          }
          controller.enqueue(encoder.encode(part));
          stalled = setTimeout(giveUp, ANSWER_STALLED_AFTER);
        } catch (error) {
          end();
          logFault({ request_id }, error);
          throw error;
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
