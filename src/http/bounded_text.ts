/** Reads no further than the limit, in bytes, so that one sender cannot exhaust the isolate's memory. Undefined beyond it. */
export async function textWithin(response: Response, limit: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
