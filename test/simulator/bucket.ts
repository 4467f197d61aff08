import { LOST, Lost } from "./lost.ts";
import type { Schedule } from "./schedule.ts";

/** A bucket whose files are in `files`, under its name. */
export function bucketOf(name: string, files: Map<string, Uint8Array>, schedule: Schedule) {
  const trip = <Result>(what: string, effect: () => Result) =>
    schedule.trip(`${what} in the bucket of ${name}`, effect, () => new Lost(`R2: ${LOST}`));
  const found = (key: string) => {
    const bytes = files.get(`${name}/${key}`);
    if (!bytes) return null;
    const response = () => new Response(bytes as BodyInit);
    return {
      key,
      size: bytes.byteLength,
      body: response().body,
      arrayBuffer: () => response().arrayBuffer(),
      text: () => response().text(),
      bytes: async () => bytes,
    };
  };
  return {
    get: (key: string) => trip("reads a file", () => found(key)),
    head: (key: string) => trip("looks for a file", () => found(key)),
    delete: (keys: string | string[]) =>
      trip("deletes files", () => {
        for (const key of [keys].flat()) files.delete(`${name}/${key}`);
      }),
    async put(key: string, value: string | ArrayBuffer | ReadableStream, options?: { onlyIf?: unknown }) {
      const bytes = new Uint8Array(await new Response(value).arrayBuffer());
      return trip("writes a file", () => {
        if (options?.onlyIf && files.has(`${name}/${key}`)) return null;
        files.set(`${name}/${key}`, bytes);
        return found(key);
      });
    },
  };
}
