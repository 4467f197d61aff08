import { logFault } from "../http/log.ts";
import { NUDGE_INTERVAL, QUEUE_SEND_LIMIT } from "../tuning.ts";

/** In the future for a delayed message that has not arrived yet. */
const nudgedAt = new WeakMap<Queue, number>();

/**
 * At most one message per interval and isolate. Writes within the interval share one that arrives after its end.
 *
 * @param send sends the message with this delay, in milliseconds
 */
export async function nudge(queue: Queue, send: (delay: number) => Promise<void>): Promise<void> {
  const now = Date.now();
  const last = nudgedAt.get(queue) ?? 0;
  // A message that arrives later covers this write too.
  if (last > now && last <= now + NUDGE_INTERVAL) return;
  const next = Math.max(now, last <= now ? last + NUDGE_INTERVAL : now);
  nudgedAt.set(queue, next);
  await send(next - now);
}

/** Only logs a failure: the cron finds the work too. `delay` is in milliseconds. */
export const sendOrLog = async (
  queue: Queue,
  body: object,
  delay: number,
  where: Parameters<typeof logFault>[0],
) => {
  await queue.send(body, { delaySeconds: Math.ceil(delay / 1000) }).catch((error) => logFault(where, error));
};

/** Waits for all of the work, then throws the first failure. */
export async function runToEnd(work: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

export function* portionsOf<Message>(messages: Message[]): Generator<Message[]> {
  for (let sent = 0; sent < messages.length; sent += QUEUE_SEND_LIMIT)
    yield messages.slice(sent, sent + QUEUE_SEND_LIMIT);
}
