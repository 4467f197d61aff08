/** The headers that are set in a curl configuration file. */
export const headersOf = (config: string): Record<string, string> =>
  Object.fromEntries(
    [...config.matchAll(/^header = "([^:]+): ([^"]+)"$/gm)].map(([, name, value]) => [name, value]),
  );
