/** Databases of D1 in a Cloudflare account: that of the configuration. */
import { runWrangler, type Target } from "./wrangler.ts";

/** For `wrangler d1 create`. */
export type Place = { jurisdiction?: string; location?: string };

/** Without its configuration, wrangler would take another account. */
const accountFlags = ({ config, env }: Target) => [
  "--config",
  config,
  ...(env === undefined ? [] : ["--env", env]),
];

const placeFlags = (place: Place) =>
  Object.entries(place).flatMap(([flag, value]) => (value ? [`--${flag}`, value] : []));

export function databaseExists(target: Target, name: string): boolean {
  const list: { name: string }[] = JSON.parse(runWrangler(["d1", "list", "--json", ...accountFlags(target)]));
  return list.some((each) => each.name === name);
}

/** @throws Error if a database that is there is to be somewhere: that is only for a new one */
export function refusePlace(name: string, place: Place) {
  const [flag] = placeFlags(place);
  if (flag === undefined) return;
  throw new Error(
    `The database ${name} is there already, and ${flag} cannot move it. See where it is: \`npx wrangler d1 info ${name}\`. ` +
      `Where that is right, run this again without ${flag}. Otherwise delete it, if it is empty: \`npx wrangler d1 delete ${name}\`.`,
  );
}

/** What wrangler advises, a binding of another name, is not for us. */
export const makeDatabase = (target: Target, name: string, place: Place) =>
  runWrangler(["d1", "create", name, "--update-config=false", ...accountFlags(target), ...placeFlags(place)]);
