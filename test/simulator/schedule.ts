import { AsyncLocalStorage } from "node:async_hooks";
import type { Chance } from "../support/chance.ts";

/** A trip can fail before its effect, or after it. */
type Fault = "is not made" | "loses its answer" | undefined;

/** An isolate, whose trips end when it does. */
export interface Life {
  isOver: boolean;
}

interface Trip {
  life: Life | undefined;
  who: string;
  what: string;
  run: (fault: Fault) => void;
  canFail: boolean;
}

interface Timer {
  id: number;
  at: number;
  life: Life | undefined;
  run: () => void;
}

/** The run begins at this time on every machine. */
const START = Date.parse("2026-11-28T09:00:00Z");

/** In milliseconds. The first one is longer than the service waits for a webhook's receiver. */
const [LONGEST_TRIP, USUAL_TRIP] = [20_000, 20];

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Decides what happens next. Everything that is in flight waits here, at a trip to a database, a queue, a bucket or another host, or
 * at a timer. In each step, one of them goes on, and nothing else does until all of the code waits again.
 */
export class Schedule {
  now = START;
  steps = 0;
  readonly trace: string[] = [];
  /** Whether trips run at once, because the story is over. */
  isOver = false;
  /** The share of the trips that fail, and of those that take long. */
  faults = 0;
  #trips: Trip[] = [];
  #timers: Timer[] = [];
  #lastId = 0;
  #threads = 0;
  #delivered: Promise<unknown> = Promise.resolve();
  readonly #actors = new AsyncLocalStorage<{ who: string; life: Life | undefined }>();
  readonly chance: Chance;

  constructor(chance: Chance) {
    this.chance = chance;
  }

  /** Runs code as an actor, whose name is in the trace of its trips. */
  as<Result>(who: string, life: Life | undefined, work: () => Result): Result {
    return this.#actors.run({ who, life }, work);
  }

  get who(): string {
    return this.#actors.getStore()?.who ?? "setting up";
  }

  say(text: string): void {
    this.trace.push(`${new Date(this.now).toISOString().slice(5, 23)}  ${this.who}: ${text}`);
  }

  /**
   * Waits until the schedule chooses this trip, then runs its effect.
   *
   * @param effect must not wait for another trip
   * @param fault makes the error of a failed trip; without it, the trip cannot fail
   */
  trip<Result>(what: string, effect: () => Result | Promise<Result>, fault?: () => Error): Promise<Result> {
    const { who = "", life } = this.#actors.getStore() ?? {};
    if (this.isOver) return Promise.resolve().then(effect);
    return new Promise((resolve, reject) => {
      const run = async (failure: Fault) => {
        try {
          if (failure === "is not made") throw fault?.();
          const result = await effect();
          if (failure === "loses its answer") throw fault?.();
          if (!life?.isOver) resolve(result);
        } catch (error) {
          if (!life?.isOver) reject(error);
        }
      };
      this.#trips.push({ life, who, what, run, canFail: fault !== undefined });
    });
  }

  /** @param milliseconds by the clock of the schedule */
  startTimer(milliseconds: number, run: () => void): number {
    const { life } = this.#actors.getStore() ?? {};
    const id = ++this.#lastId;
    this.#timers.push({
      id,
      at: this.now + Math.ceil(Math.max(milliseconds, 0)),
      life,
      run: AsyncLocalStorage.bind(run),
    });
    return id;
  }

  stopTimer(id: number | undefined): void {
    this.#timers = this.#timers.filter((timer) => timer.id !== id);
  }

  pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      this.startTimer(milliseconds, resolve);
    });

  /** Delivers results that come from threads one by one, in the order in which they were asked for. */
  async fromThread<Result>(work: Promise<Result>): Promise<Result> {
    this.#threads++;
    const before = this.#delivered;
    const delivered = before.then(() => work);
    this.#delivered = delivered
      .catch(() => {})
      .then(nextTurn)
      .then(() => {
        this.#threads--;
      });
    return delivered;
  }

  /** Runs until the actors have finished, or until nothing is in flight. */
  async runUntil(isOver: () => boolean): Promise<void> {
    for (;;) {
      await this.#settle();
      if (isOver()) return;
      if (!this.#step()) throw new Error("Everybody waits for something that will never happen");
    }
  }

  async #settle(): Promise<void> {
    do {
      await nextTurn();
      await nextTurn();
    } while (this.#threads > 0);
  }

  #step(): boolean {
    this.#trips = this.#trips.filter(({ life }) => !life?.isOver);
    this.#timers = this.#timers.filter(({ life }) => !life?.isOver);
    const timer = this.#timers.reduce<Timer | undefined>(
      (first, each) =>
        first && (first.at < each.at || (first.at === each.at && first.id < each.id)) ? first : each,
      undefined,
    );
    const isTimer = timer && (timer.at <= this.now || this.#trips.length === 0);
    if (timer && isTimer) {
      this.stopTimer(timer.id);
      this.now = Math.max(this.now, timer.at);
      timer.run();
      return true;
    }
    if (this.#trips.length === 0) return false;
    const [trip] = this.#trips.splice(this.chance.below(this.#trips.length), 1) as [Trip];
    this.steps++;
    // Some trips take so long that timers go off meanwhile.
    this.now += this.chance.below(this.chance.is(this.faults) ? LONGEST_TRIP : USUAL_TRIP);
    const fault = trip.canFail && this.chance.is(this.faults) ? this.#fault() : undefined;
    this.as(trip.who, trip.life, () => {
      this.say(fault ? `${trip.what}, which ${fault}` : trip.what);
      trip.run(fault);
    });
    return true;
  }

  #fault = (): Fault => (this.chance.is(0.5) ? "is not made" : "loses its answer");
}
