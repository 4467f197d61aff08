import type { Call, Clinic } from "../clinic.ts";

export type Act = (clinic: Clinic) => Promise<unknown>;

export const pick = <Item>(clinic: Clinic, items: readonly Item[]): Item | undefined =>
  items.length > 0 ? clinic.world.chance.pick(items) : undefined;

export const resultsOf = (call: Call) => `/organization_users/${call.owner.id}/calls/${call.id}`;

export const aKnownCall = (clinic: Clinic) =>
  pick(
    clinic,
    clinic.calls.filter(({ id }) => id !== undefined),
  );

/** The results of a call are shown once it has ended. */
export const anEndedCall = (clinic: Clinic) =>
  pick(
    clinic,
    clinic.calls.filter(({ id, isEnded }) => id !== undefined && isEnded),
  );
