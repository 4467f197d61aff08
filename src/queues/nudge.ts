import { NUDGE_INTERVAL } from "../tuning.ts";

/** When the last message to each queue was sent, or will arrive: it may wait. */
const nudgedAt = new WeakMap<Queue, number>();

/**
 * Has a message sent to a queue: there may be something to do. An isolate does so at most once in an interval: what is
 * written within it gets a message that comes after its end.
 *
 * @param send sends the message, which comes after so many milliseconds
 */
export async function nudge(queue: Queue, send: (delay: number) => Promise<void>): Promise<void> {
  const now = Date.now();
  const last = nudgedAt.get(queue) ?? 0;
  // A message that comes later sees this write too.
  if (last > now && last <= now + NUDGE_INTERVAL) return;
  const next = Math.max(now, last <= now ? last + NUDGE_INTERVAL : now);
  nudgedAt.set(queue, next);
  await send(next - now);
}
