import type { Context as HonoContext } from "hono";
import { LARGE_ANSWER, LARGE_REQUEST_ALONE } from "../tuning.ts";
import { type Turn, takeTurn } from "./large_requests.ts";

const turns = new Set<Turn>();

const encoder = new TextEncoder();

/** The parts of a text that may be long, one after the other, and the headers that go before it. */
export interface Parts {
  parts: AsyncIterable<string> | Iterable<string>;
  headers: Record<string, string>;
}

/**
 * Answers with a text that may be long. They are made one at a time in an isolate, from reading on, and a long one while the
 * caller takes it.
 *
 * @throws ApiError 503 if its turn does not come
 */
export async function answerInTurn(c: HonoContext, make: () => Promise<Parts>): Promise<Response> {
  const turn = await takeTurn(turns, LARGE_REQUEST_ALONE);
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

function streamOf(bytes: AsyncGenerator<Uint8Array>) {
  // The stream lives until the caller has it all, and what it is made from takes more memory.
  let rest: AsyncGenerator<Uint8Array> | undefined = bytes;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await rest?.next();
        if (next?.value) return controller.enqueue(next.value);
        rest = undefined;
        controller.close();
      },
      async cancel() {
        await rest?.return(undefined);
        rest = undefined;
      },
    },
    { highWaterMark: 0 },
  );
}
