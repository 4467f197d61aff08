/** The headers that lines of curl's configuration set. */
export const headersOf = (config: string): Record<string, string> =>
  Object.fromEntries(
    [...config.matchAll(/^header = "([^:]+): ([^"]+)"$/gm)].map(([, name, value]) => [name, value]),
  );
