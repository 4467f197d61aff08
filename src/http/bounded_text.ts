/**
 * The text of a response from elsewhere. Reads no further than the limit, in bytes: one sender is not to take the
 * memory of all organizations.
 *
 * @returns undefined if the text is longer
 */
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
