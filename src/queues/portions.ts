import { QUEUE_SEND_LIMIT } from "../tuning.ts";

/** Messages in as many portions as it takes sends: a queue takes only so many at once. */
export function* portionsOf<Message>(messages: Message[]): Generator<Message[]> {
  for (let sent = 0; sent < messages.length; sent += QUEUE_SEND_LIMIT)
    yield messages.slice(sent, sent + QUEUE_SEND_LIMIT);
}
