import { createServer } from "node:net";
import { setTimeout } from "node:timers/promises";

const MB = 1024 * 1024;

interface HeapUsage {
  usedSize: number;
  backingStorageSize?: number;
}

export async function inspect(port: number) {
  const { promise: opened, resolve: isOpen, reject } = Promise.withResolvers<void>();
  // Node's own option: wrangler refuses a connection without an origin.
  const init = { headers: { Origin: "http://localhost" } } as unknown as string[];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, init);
  const waiting = new Map<number, (result: HeapUsage) => void>();
  socket.addEventListener("open", () => isOpen());
  socket.addEventListener("error", () => reject(new Error("The inspector does not answer")));
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
  });
  await opened;
  let count = 0;
  const ask = (method: string) =>
    new Promise<HeapUsage>((resolve) => {
      waiting.set(++count, resolve);
      socket.send(JSON.stringify({ id: count, method }));
    });
  return {
    /**
     * The largest heap in MB while something runs, with and without the buffers outside of it. Garbage is collected
     * first, because its amount depends on how busy the machine is. An idle isolate may not answer, so it is not
     * measured before or after.
     */
    async peakDuring(run: () => Promise<void>) {
      let peak = 0;
      let peakWithBuffers = 0;
      let runs = true;
      const ended = run().finally(() => {
        runs = false;
      });
      while (runs) {
        const began = performance.now();
        await Promise.race([ask("HeapProfiler.collectGarbage"), ended]);
        const usage = await Promise.race([ask("Runtime.getHeapUsage"), ended]);
        if (!usage) continue;
        peak = Math.max(peak, usage.usedSize);
        peakWithBuffers = Math.max(peakWithBuffers, usage.usedSize + (usage.backingStorageSize ?? 0));
        // Leaves half of the time to the measured work.
        await setTimeout(performance.now() - began);
      }
      await ended;
      if (peak === 0) throw new Error("The inspector did not answer while it ran");
      return { heap: peak / MB, withBuffers: peakWithBuffers / MB };
    },
    close: () => socket.close(),
  };
}

export function freePort() {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}
