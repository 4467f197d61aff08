import { REMEMBERED_CONNECTIONS } from "../tuning.ts";
import type { Visitor } from "./events.ts";
import type { Connection } from "./rooms.table.ts";

/** Adds what an event reports about a connection. The order and repetition of events make no difference. */
export function withConnection(known: Connection[], { at, joined_at, left_at, came }: Visitor): Connection[] {
  const began = joined_at ?? known.at(-1)?.[0] ?? at;
  const same = known.find(([each]) => each === began);
  const known_end = same?.[1] ?? null;
  // Two connections can have begun at the same time: then the person leaves with the last one.
  const isLater = joined_at !== undefined && left_at !== null && left_at > (known_end ?? 0);
  const ended = isLater ? left_at : (known_end ?? left_at);
  const next: Connection = [began, ended, came && (same?.[2] ?? true)];
  const all = [...known.filter((each) => each !== same), next].sort(([one], [other]) => one - other);
  // Keep the first connection, which says when the person came.
  return all.length > REMEMBERED_CONNECTIONS ? [...all.slice(0, 1), ...all.slice(2)] : all;
}

export interface Stay {
  came_at: number;
  joined_at: number;
  left_at: number | null;
}

/** @returns undefined for a person who never came */
export function stayOf(connections: Connection[]): Stay | undefined {
  const real = connections.filter(([, , came]) => came);
  const [first, newest] = [real[0], real.at(-1)];
  return first && newest && { came_at: first[0], joined_at: newest[0], left_at: newest[1] };
}
