/** The response cannot be one of the service's. */
export class Unacceptable extends Error {}

/**
 * Splits a response into lines as it arrives.
 *
 * @param longest in characters, if the service is not trusted
 * @throws Unacceptable for a longer line
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  longest: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of [...lines, rest])
      if (line.length > longest) throw new Unacceptable(`A line has more than ${longest} characters`);
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** Reads a body until the signal aborts. Not every runtime makes a body an async iterable. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  if (!reader) return;
  const cancel = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    // The caller may have stopped early.
    cancel();
  }
}

/** @throws Unacceptable, without the text, which may be about a patient */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Unacceptable("The response is not JSON");
  }
}
