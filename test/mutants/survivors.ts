/** Rules that no test can notice the loss of, each with the reason. */
export const SURVIVORS: Record<string, string> = {};
