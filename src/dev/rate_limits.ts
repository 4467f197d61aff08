/**
 * Cloudflare does not tell a Worker what its rate limits are, and the service tells callers: so each stands in
 * wrangler.toml twice. A difference would be a lie, so it stops the build, and with it a deployment.
 *
 * @throws Error if a limit and its variable differ
 */
export function requireSameLimits(wranglerToml: string): void {
  for (const binding of ["CLIENT_LIMIT", "FAILURE_LIMIT"]) {
    const limit = new RegExp(
      `^name = "${binding}"\\n(?:.+\\n)*?simple = \\{ limit = (\\d+), period = 60 \\}`,
      "m",
    );
    const told = new RegExp(`^${binding}_PER_MINUTE = "(\\d+)"`, "m");
    const [counted, said] = [limit, told].map((pattern) => pattern.exec(wranglerToml)?.[1]);
    if (counted === undefined || counted !== said)
      throw new Error(
        `wrangler.toml: ${binding} must have a limit with the period 60, and ${binding}_PER_MINUTE in [vars] must be the same number`,
      );
  }
}
