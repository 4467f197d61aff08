import { log } from "../http/log.ts";
import { LIVEKIT_CONNECTIONS, LIVEKIT_TIME_LIMIT } from "../tuning.ts";
import { LiveKitUnavailable } from "./egress_api.ts";

/**
 * Asks LiveKit about each item, a few at the same time. Stops early if LiveKit is slow or does not answer: the next run
 * continues.
 *
 * @returns the items that were asked about, those of them that failed, and the errors
 */
export async function askAboutEach<Item>(items: Item[], ask: (item: Item) => Promise<void>) {
  const started = Date.now();
  const waiting = [...items];
  const asked: Item[] = [];
  const failed: Item[] = [];
  const faults: unknown[] = [];

  const next = () => {
    const isOver = Date.now() - started > LIVEKIT_TIME_LIMIT || faults.length >= LIVEKIT_CONNECTIONS;
    return isOver ? undefined : waiting.shift();
  };

  const askOneByOne = async () => {
    for (let item = next(); item; item = next()) {
      asked.push(item);
      try {
        await ask(item);
      } catch (error) {
        failed.push(item);
        faults.push(error);
      }
    }
  };

  await Promise.all(Array.from({ length: LIVEKIT_CONNECTIONS }, askOneByOne));
  return { asked, failed, faults };
}

/** Logs one line for all of LiveKit's errors in a run, and throws the first other error. */
export function reportFaults(faults: unknown[]): void {
  const [first, ...others] = faults.filter((fault) => fault instanceof LiveKitUnavailable);
  if (first) {
    const { fault: reason, status } = first;
    log("livekit_unavailable", { reason, status, egresses: 1 + others.length });
  }
  const ours = faults.find((fault) => !(fault instanceof LiveKitUnavailable));
  if (ours) throw ours;
}
