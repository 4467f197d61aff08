import type { Clinic } from "../clinic.ts";
import { NoAnswer } from "../world.ts";
import type { Act } from "./act.ts";

/** A write or a read of one value, with the steps between which it happened. Without an answer, a write may still happen. */
interface Access {
  kind: "write" | "read";
  value: string;
  began: number;
  ended: number;
}

/**
 * Whether the accesses have an order in which each read returns the value of the last write, and no access comes before one
 * that had ended when it began.
 */
export function areExplained(accesses: Access[], value: string, known = new Set<string>()): boolean {
  if (accesses.every(({ ended }) => ended === Number.POSITIVE_INFINITY)) return true;
  const state = `${value}: ${accesses.map(({ began }) => began)}`;
  if (known.has(state)) return false;
  known.add(state);
  const firstEnd = Math.min(...accesses.map(({ ended }) => ended));
  return accesses
    .filter(({ kind, began, ended, ...access }) => {
      const isFirst = began < firstEnd || ended === firstEnd;
      return isFirst && (kind === "write" || access.value === value);
    })
    .some((first) =>
      areExplained(
        accesses.filter((each) => each !== first),
        first.value,
        known,
      ),
    );
}

/** Sends a request once: sent again, a write could happen twice. */
async function sendOnce(clinic: Clinic, method: string, path: string, waiting_room?: object) {
  const { world, credentials } = clinic;
  const began = world.schedule.steps;
  try {
    const headers = { ...credentials };
    const answer = await world.send(
      method,
      `/api/external${path}`,
      headers,
      waiting_room && { waiting_room },
    );
    return { began, ended: world.schedule.steps, answer };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { began, ended: Number.POSITIVE_INFINITY, answer: undefined };
  }
}

/** The name of a room is written and read by five systems, while others change the rest of the room. */
export const registerActs: Record<string, Act> = {
  async "renames a room from several sides"(clinic) {
    const { world } = clinic;
    const { schedule, chance } = world;
    const first = clinic.unique("Name");
    const room = await clinic.client("POST", "/waiting_rooms", { waiting_room: { name: first } }, true);
    if (room?.status !== 201) return;
    const path = `/waiting_rooms/${room.body.slug}`;
    const accesses: Access[] = [];
    const write = async () => {
      const name = clinic.unique("Name");
      const { answer, ...times } = await sendOnce(clinic, "PUT", path, { name });
      const isUnknown = !answer || answer.status >= 500;
      if (isUnknown) accesses.push({ kind: "write", value: name, ...times, ended: Number.POSITIVE_INFINITY });
      else if (answer.status === 200) accesses.push({ kind: "write", value: name, ...times });
    };
    const read = async () => {
      const { answer, ...times } = await sendOnce(clinic, "GET", path);
      if (answer?.status === 200) accesses.push({ kind: "read", value: answer.body.name, ...times });
    };
    const change = async () => void (await sendOnce(clinic, "PUT", path, { is_active: chance.is(0.5) }));
    const system = async (works: (() => Promise<void>)[]) => {
      for (const work of works) {
        await schedule.pause(chance.below(200));
        await work();
      }
    };
    await Promise.all([
      system([write, read]),
      system([read, write, read]),
      system([change, read, change]),
      system([change, write]),
    ]);
    if (!areExplained(accesses, first))
      world.violation(`No order explains the names of a room, first ${first}: ${JSON.stringify(accesses)}`);
  },
};
