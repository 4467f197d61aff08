/**
 * The lines of a response, as they come.
 *
 * @param longest in characters, for those who do not trust the service
 * @throws Error for a longer line
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
      if (line.length > longest) throw new Error(`A line has more than ${longest} characters`);
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** The bytes of a body, until the signal. Not every runtime has them as an async iterable. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  if (!reader) return;
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    // Who stops early wants no more.
    reader.cancel().catch(() => {});
  }
}
