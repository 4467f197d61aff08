import { QUEUE_SEND_LIMIT } from "../tuning.ts";

/** Splits messages into portions, because a queue accepts a limited number per send. */
export function* portionsOf<Message>(messages: Message[]): Generator<Message[]> {
  for (let sent = 0; sent < messages.length; sent += QUEUE_SEND_LIMIT)
    yield messages.slice(sent, sent + QUEUE_SEND_LIMIT);
}
