/** As D1 says it. */
export const LOST = "Network connection lost.";

/** A fault that the schedule makes. The log has its name, so that faults of the service itself are told from it. */
export class Lost extends Error {
  override name = "Lost";
}
