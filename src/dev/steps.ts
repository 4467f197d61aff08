import { explained } from "./cloudflare_api.ts";
import { type Consent, mayChange, say } from "./command.ts";

export interface Step {
  says: string;
  run: () => unknown;
}

/**
 * Shows the steps of a command, asks, and carries them out.
 *
 * @returns false for a dry run
 */
export async function carryOut(steps: Step[], consent: Consent): Promise<boolean> {
  const plan = steps.map(({ says }) => says);
  if (!(await mayChange(plan, consent))) return false;
  for (const { says, run } of steps) {
    try {
      await run();
    } catch (error) {
      throw explained(says, error);
    }
    say(`Done: ${says}`);
  }
  return true;
}
