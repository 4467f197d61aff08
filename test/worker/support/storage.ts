import { env } from "cloudflare:workers";

/** The bucket of the recordings, whose deletions the test can watch and make fail. */
export function aBucket(refuses: (storage_keys: string[]) => boolean = () => false) {
  const bucket = {
    /** The files of each deletion that was requested. */
    asked: [] as string[][],
    refuses,
    /** Runs before each deletion. */
    before: async () => {},
  };
  const binding = new Proxy(env.RECORDINGS, {
    get(target, property) {
      if (property !== "delete") throw new Error(`The bucket does not have R2's ${String(property)}`);
      return async (keys: string | string[]) => {
        const storage_keys = [keys].flat();
        bucket.asked.push(storage_keys);
        await bucket.before();
        if (bucket.refuses(storage_keys))
          throw new Error("delete: We encountered an internal error. (10001)");
        return target.delete(storage_keys);
      };
    },
  });
  return Object.assign(bucket, { binding });
}

export const storeFile = (storage_key: string) => env.RECORDINGS.put(storage_key, `bytes of ${storage_key}`);

export const fileExists = async (storage_key: string) => (await env.RECORDINGS.head(storage_key)) !== null;

export async function keysIn(bucket: R2Bucket): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ cursor });
    keys.push(...page.objects.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return keys;
}
