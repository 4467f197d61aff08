import { readFileSync } from "node:fs";

/** wrangler.toml without the environments that an operator has added. */
export const shippedConfiguration = (): string =>
  readFileSync("wrangler.toml", "utf8")
    .split(/^(?=\[)/m)
    .filter((section) => !/^\[+env\./.test(section))
    .join("");
