import type { World } from "../simulator/world.ts";
import { compare } from "./compare.ts";
import { type Answer, Model, Refusal, type Request } from "./model.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";

/** Requests as they are sent, and what the model says about them. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const STATUSES: Record<string, number> = { POST: 201, DELETE: 204 };

export const DIFFER = "The model and the service differ";

export class Story {
  readonly model = new Model();
  readonly world: World;
  /** The number of answers, by operation and what was answered. */
  answers = new Map<string, Map<string, number>>();

  constructor(world: World) {
    this.world = world;
    world.schedule.isOver = true;
  }

  /** Sends a request to the service, and plays it in the model. */
  async play(
    name: string,
    { sent, request }: { sent: Sent; request: Partial<Request> & { refusal?: Refusal } },
  ): Promise<Answer> {
    const { world, model } = this;
    world.schedule.now += 1000;
    model.now = world.schedule.now;
    const expected = this.#expect(name, request);
    const { method, path, headers, body } = sent;
    const response = await world.fetchAfterwards(`https://service.test${path}`, {
      method,
      headers: {
        "CF-Connecting-IP": "192.0.2.1",
        ...headers,
        "Content-Type": "application/json",
        ...(body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const code = response.headers.get("Error-Code");
    const isNdjson = response.headers.get("Content-Type") === "application/x-ndjson";
    const answer = {
      status: response.status,
      ...(code ? { code } : {}),
      body: text === "" ? undefined : isNdjson ? text : JSON.parse(text),
    };
    const differences =
      expected instanceof Refusal || expected.status !== answer.status
        ? compare(
            { status: expected.status, code: (expected as Refusal).code },
            { status: answer.status, code: answer.code },
          )
        : compare(expected.body, answer.body);
    const counts = this.answers.get(name) ?? new Map<string, number>();
    const said = `${answer.status} ${code ?? ""}`.trim();
    this.answers.set(name, counts.set(said, (counts.get(said) ?? 0) + 1));
    if (differences.length > 0)
      throw new Error(
        `${DIFFER}: ${method} ${path} ${body ?? ""}\n${differences.join("\n")}\nThe service: ${answer.status} ${code ?? ""} ${text}`,
      );
    if (OPERATIONS[name]?.changesRights) world.schedule.now += 61_000;
    return answer;
  }

  #expect(name: string, { refusal, ...request }: Partial<Request> & { refusal?: Refusal }): Answer | Refusal {
    if (refusal) return refusal;
    try {
      const { play, status } = OPERATIONS[name] as Operation;
      const [, method = ""] = name.split(" ");
      return { status: status ?? STATUSES[method] ?? 200, body: play(this.model, request as Request) };
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }
}
