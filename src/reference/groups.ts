/** The groups of the navigation, in their order. */
export const GROUPS = ["Start", "People", "Rooms and visits", "Results", "Follow", "Audit"] as const;

export type Group = (typeof GROUPS)[number];
