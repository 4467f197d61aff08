import type { Context as HonoContext } from "hono";
import { CHUNK_LENGTH } from "../tuning.ts";
import { logFault } from "./log.ts";

export const JSON_TYPE = { "Content-Type": "application/json" };

const encoder = new TextEncoder();

export function* inChunks(parts: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const part of parts) {
    chunk += part;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** Makes each chunk when the caller takes it. A fault after the first one is logged, and breaks off the response. */
export async function streamed(
  c: HonoContext,
  chunks: AsyncIterable<string> | Iterable<string>,
  headers: Record<string, string>,
): Promise<Response> {
  const rest = iterate(chunks);
  const first = (await rest.next()).value ?? "";
  if (c.req.method === "HEAD") {
    await rest.return(undefined);
    return c.body(null, 200, headers);
  }
  const { value: second, done } = await rest.next();
  if (done) return c.body(first, 200, headers);
  const bytes = bytesOf([first, second], rest, c.var.requestId);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await bytes.return(undefined);
        // If nothing was read, `bytes` has not begun to read these.
        await rest.return(undefined);
      },
    },
    // Nothing is buffered ahead of the caller.
    { highWaterMark: 0 },
  );
  return c.body(body, 200, headers);
}

async function* iterate(chunks: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string, undefined> {
  yield* chunks;
}

async function* bytesOf(
  begun: string[],
  rest: AsyncIterable<string>,
  request_id: string,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    for (const text of begun) yield encoder.encode(text);
    for await (const text of rest) yield encoder.encode(text);
  } catch (error) {
    logFault({ request_id }, error);
    throw error;
  }
}
