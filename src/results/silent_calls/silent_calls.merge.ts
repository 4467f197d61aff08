interface SilentCall {
  started_at: number;
  /** The latest time of any participant. */
  participants_until: number | null;
  /** Milliseconds since the start of the call. */
  spoken_until: number | null;
  recorded_until: number | null;
}

/** The assumed end of a call whose end was not reported: its latest known time. */
export function assumedEnd(call: SilentCall, now: number): number {
  const { started_at, participants_until, spoken_until, recorded_until } = call;
  const latest = Math.max(
    participants_until ?? started_at,
    started_at + (spoken_until ?? 0),
    recorded_until ?? started_at,
  );
  // A time in the future was reported by mistake.
  return Math.max(started_at, Math.min(latest, now));
}
