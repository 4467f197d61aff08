import type { DatabaseSync } from "node:sqlite";
import { type Run, runWith } from "../../src/dev/statement_runner.ts";
import { databasesInMemory } from "../project/support/busy_shards.ts";
import { bindings, ORIGIN, PLATFORM_TOKEN } from "../project/support/worker_in_node.ts";
import { Chance } from "../support/chance.ts";
import { bucketOf } from "./bucket.ts";
import { databaseOf, makeDeterministic } from "./databases.ts";
import { type Isolate, type Programs, startCommands, startIsolate } from "./isolate.ts";
import { LOST, Lost } from "./lost.ts";
import { Queues } from "./queues.ts";
import { Schedule } from "./schedule.ts";

/** How often things go wrong. */
export interface Odds {
  /** The share of the trips that fail. */
  faults: number;
  /** The share of the requests, messages and runs of the cron after which their isolate is restarted. */
  restarts: number;
  /** The share of the messages that are lost, and of those that come twice. */
  messages: number;
}

const NEVER: Odds = { faults: 0, restarts: 0, messages: 0 };

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an actor knows what it asked for
  body: any;
  /** When the request was sent, by the steps of the schedule. */
  sentAt: number;
}

/** The connection broke: the request may have been carried out. */
export class NoAnswer extends Error {}

export type Receiver = (body: Record<string, unknown>) => Response;

/** The service and everything around it: databases, queues, buckets, mail, other hosts and a clock. */
export class World {
  readonly chance: Chance;
  readonly schedule: Schedule;
  readonly databases: DatabaseSync[];
  readonly receivers = new Map<string, Receiver>();
  readonly files = new Map<string, Uint8Array>();
  readonly mails: { to: string; at: number }[] = [];
  /** Lines of the log that report a fault of the service itself. */
  readonly faults: string[] = [];
  /** Sentences about what must not happen, and did. */
  readonly violations: string[] = [];
  odds = NEVER;
  /** Whether anything may have failed so far. */
  hasFaults = false;
  readonly #programs: Programs;
  readonly #env: Env;
  #isolates: Isolate[] = [];
  #started = 0;
  #underWay = 0;
  readonly #queues = new Queues(this);

  constructor(seed: number, programs: Programs, databases: number) {
    this.chance = new Chance(seed);
    this.schedule = new Schedule(this.chance);
    this.databases = databasesInMemory(databases);
    for (const database of this.databases) makeDeterministic(database, this.schedule);
    this.#programs = programs;
    const [DB, ...others] = this.databases.map((database, shard) =>
      databaseOf(database, shard, this.schedule),
    );
    this.#env = {
      ...bindings(DB as D1Database),
      ...Object.fromEntries(others.map((other, n) => [`DB_${n + 1}`, other])),
      MAIL_FROM: "visits@riverside.example",
      BULK_INVITES: this.#queues.queue("bulk-invites", 5),
      CHORES: this.#queues.queue("chores", 0),
      WEBHOOKS: this.#queues.queue("webhook-deliveries", 5),
      INVITE_MAILS: this.#queues.queue("invite-mails", 5),
      EMAIL: { send: (mail: { to: string }) => this.#sendMail(mail) },
      RECORDINGS: bucketOf("recordings", this.files, this.schedule),
      AUDIT_LOGS: bucketOf("sealed days", this.files, this.schedule),
    } as unknown as Env;
    this.#isolates = [this.#start(), this.#start()];
  }

  begin(odds: Odds): void {
    this.odds = odds;
    this.hasFaults ||= odds.faults > 0;
    this.schedule.faults = odds.faults;
  }

  /** From now on, nothing fails. */
  calm(): void {
    this.begin(NEVER);
  }

  violation(sentence: string): void {
    this.schedule.say(`VIOLATION: ${sentence}`);
    this.violations.push(sentence);
  }

  /** Whether no queue holds a message, and no invocation runs. */
  get isIdle(): boolean {
    return this.#underWay + this.#queues.underWay === 0;
  }

  /**
   * Sends a request to an isolate.
   *
   * @throws NoAnswer
   */
  async send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object | string,
  ): Promise<Answer> {
    const { schedule } = this;
    const sentAt = schedule.steps;
    await schedule.trip(
      `sends ${method} ${path}`,
      () => {},
      () => new NoAnswer(),
    );
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const described = {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(text ?? "")),
    };
    const request = new Request(ORIGIN + path, {
      method,
      headers: { "CF-Connecting-IP": "192.0.2.1", ...headers, ...(text === undefined ? {} : described) },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await this.invoke(async ({ fetch }, env, context) => {
      const response = await fetch(request as never, env, context);
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
    if (schedule.faults > 0 && this.chance.is(schedule.faults)) {
      schedule.say(`got no answer to ${method} ${path} (${answer.status})`);
      throw new NoAnswer();
    }
    schedule.say(`got ${answer.status} for ${method} ${path}`);
    const isJson = answer.headers.get("Content-Type")?.includes("json");
    const value = isJson && answer.text !== "" ? JSON.parse(answer.text) : answer.text;
    return { status: answer.status, headers: answer.headers, body: value, sentAt };
  }

  /** Answers a request after the story has ended: nothing else goes on, and nothing fails. */
  readonly fetchAfterwards: typeof fetch = async (input, init) => {
    this.schedule.isOver = true;
    const context = { waitUntil() {}, passThroughOnException() {} } as unknown as ExecutionContext;
    const [isolate] = this.#isolates as [Isolate];
    return isolate.worker.fetch(new Request(input as string, init) as never, this.#env, context);
  };

  async runCron(): Promise<void> {
    await this.invoke(({ scheduled }, env, context) =>
      scheduled({ scheduledTime: this.schedule.now, cron: "*/5 * * * *", noRetry() {} }, env, context),
    ).catch(() => {});
  }

  /** Runs the handler of an isolate, which may be restarted meanwhile: then nothing of the invocation goes on. */
  async invoke<Result>(
    run: (worker: Isolate["worker"], env: Env, context: ExecutionContext) => Result | Promise<Result>,
  ): Promise<Result> {
    const isolate = this.chance.pick(this.#isolates);
    const { schedule } = this;
    const who = schedule.who;
    if (this.chance.is(this.odds.restarts))
      schedule.as(who, undefined, () =>
        schedule.startTimer(this.chance.below(100), () => this.#restart(isolate)),
      );
    const background: Promise<unknown>[] = [];
    const context = {
      waitUntil: (work: Promise<unknown>) => background.push(work.catch(() => {})),
      passThroughOnException() {},
    } as unknown as ExecutionContext;
    this.#underWay++;
    const work = schedule.as(`${who} (${isolate.name})`, isolate, async () =>
      run(isolate.worker, this.#env, context),
    );
    const over = Promise.race([
      work.catch(() => {}).then(() => Promise.all(background)),
      isolate.death.promise,
    ]);
    over.catch(() => {}).then(() => this.#underWay--);
    return Promise.race([work, isolate.death.promise]);
  }

  #restart(isolate: Isolate): void {
    if (isolate.isOver) return;
    this.schedule.say(`${isolate.name} is restarted`);
    isolate.isOver = true;
    this.#isolates = this.#isolates.map((each) => (each === isolate ? this.#start() : each));
    isolate.death.reject(new NoAnswer());
  }

  #start = (): Isolate =>
    startIsolate(this.#programs.worker, this.schedule, `isolate ${++this.#started}`, {
      fetch: ((input: string | URL | Request, init?: RequestInit) =>
        this.#fetch(input, init)) as typeof fetch,
      onLog: (line) => this.#log(line),
    });

  /** The commands of an operator, and how they reach the databases. */
  readonly startCommands = () => startCommands(this.#programs.commands, this.schedule);

  readonly run: Run = (shard, statements) => runWith(this.#env)(shard, statements);

  #log(line: string): void {
    const said = JSON.parse(line) as { event: string };
    const isExpected = line.includes(Lost.name) || (this.hasFaults && line.includes("WriteConflict"));
    if (said.event === "fault" && !isExpected) this.faults.push(line);
  }

  #sendMail({ to }: { to: string }): Promise<object> {
    return this.schedule.trip(
      "hands a mail over",
      () => {
        this.mails.push({ to: String(to), at: this.schedule.now });
        return { messageId: "mail" };
      },
      () => Object.assign(new Lost(LOST), { code: "E_INTERNAL_SERVER_ERROR" }),
    );
  }

  async #fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const { url } = request;
    const text = await request.text();
    const signal = init?.signal;
    const answer = this.schedule.trip(
      `asks ${new URL(url).host}`,
      () => {
        const receiver = this.receivers.get(url);
        return receiver ? receiver(text === "" ? {} : JSON.parse(text)) : new Response(null, { status: 404 });
      },
      () => new Lost(LOST),
    );
    if (!signal) return answer;
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    aborted.catch(() => {});
    answer.catch(() => {});
    return Promise.race([answer, aborted]);
  }
}

export const platformHeaders = { Authorization: `Bearer ${PLATFORM_TOKEN}` };
