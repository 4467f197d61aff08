import { SECOND } from "../../src/units.ts";
import { LOST, Lost } from "./lost.ts";
import type { World } from "./world.ts";

/** The queues, which lose messages, deliver them twice, and deliver them late. */
export class Queues {
  /** Messages that wait, or are being delivered. */
  underWay = 0;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** @param retries how often a message is tried again */
  queue(name: string, retries: number): Queue {
    const enqueue = (body: unknown, delay: number) => this.#enqueue(name, retries, body, delay);
    const send = (bodies: { body: unknown; delaySeconds?: number }[]) =>
      this.#world.schedule.trip(
        `sends ${bodies.length} to ${name}`,
        () => {
          for (const { body, delaySeconds = 0 } of bodies)
            enqueue(structuredClone(body), delaySeconds * SECOND);
        },
        () => new Lost(`Queue send failed: ${LOST}`),
      );
    return {
      send: (body: unknown, options: { delaySeconds?: number } = {}) => send([{ body, ...options }]),
      sendBatch: (messages: Iterable<{ body: unknown }>) => send([...messages]),
    } as unknown as Queue;
  }

  #enqueue(name: string, retries: number, body: unknown, delay: number, attempts = 1): void {
    const { chance, schedule } = this.#world;
    if (chance.is(this.#world.odds.messages)) {
      schedule.say(`${name} loses a message`);
      return;
    }
    const times = chance.is(this.#world.odds.messages) ? 2 : 1;
    for (let n = 0; n < times; n++) {
      this.underWay++;
      schedule.as(name, undefined, () =>
        schedule.startTimer(delay + chance.below(500), async () => {
          await schedule.trip(`delivers ${JSON.stringify(body)}`, () => {});
          await this.#deliver(name, retries, body, attempts);
          this.underWay--;
        }),
      );
    }
  }

  async #deliver(name: string, retries: number, body: unknown, attempts: number): Promise<void> {
    let outcome: { delay: number } | undefined = { delay: 30 * SECOND };
    const message = {
      id: `message-${this.#world.schedule.steps}`,
      timestamp: new Date(this.#world.schedule.now),
      body,
      attempts,
      ack: () => {
        outcome = undefined;
      },
      retry: ({ delaySeconds = 30 } = {}) => {
        outcome = { delay: delaySeconds * SECOND };
      },
    };
    const batch = { queue: name, messages: [message], ackAll() {}, retryAll() {} } as unknown as MessageBatch;
    await this.#world.invoke(({ queue }, env, context) => queue(batch, env, context)).catch(() => {});
    const left = outcome as { delay: number } | undefined;
    if (left && attempts <= retries) this.#enqueue(name, retries, body, left.delay, attempts + 1);
  }
}
