import type { Call, Clinic } from "../clinic.ts";

export type Act = (clinic: Clinic) => Promise<unknown>;

export function pick<Item>(
  { world }: Clinic,
  items: readonly Item[],
  isRight: (item: Item) => boolean = () => true,
): Item | undefined {
  const some = items.filter(isRight);
  return some.length > 0 ? world.chance.pick(some) : undefined;
}

export const resultsOf = (call: Call) => `/organization_users/${call.owner.id}/calls/${call.id}`;

export const aKnownCall = (clinic: Clinic) => pick(clinic, clinic.calls, ({ id }) => id !== undefined);

/** The results of a call are shown once it has ended. */
export const anEndedCall = (clinic: Clinic) =>
  pick(clinic, clinic.calls, ({ id, isEnded }) => id !== undefined && isEnded);
