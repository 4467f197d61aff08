/** Whose requests are measured, by turns: our code, the floor, and perhaps our code before a change. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { app } from "../../src/app.ts";
import type { Handler } from "./clinic.ts";
import { floor } from "./floor.ts";
import { type Operation, routeOf, routesOf } from "./operations.ts";
import { WITHOUT_FLOOR } from "./operations_platform.ts";

export interface Contender {
  name: "ours" | "before" | "floor";
  handler: Handler;
  serves(operation: Operation): boolean;
}

const ours: Contender = { name: "ours", handler: app.fetch as Handler, serves: () => true };

const withoutFloor = new Set(WITHOUT_FLOOR.map((name) => routeOf({ name, door: "platform" })));

const theFloor: Contender = {
  name: "floor",
  handler: floor as Handler,
  serves: (operation) => !withoutFloor.has(routeOf(operation)),
};

export const OURS_AND_FLOOR = [ours, theFloor];

/** @param directory another checkout of this project, with its packages installed and the same database schema */
export async function contendersAgainst(directory: string): Promise<Contender[]> {
  const { href } = pathToFileURL(resolve(directory, "src/app.ts"));
  const before: { app: typeof app } = await import(href);
  const routes = new Set(routesOf(before.app));
  return [
    ours,
    {
      name: "before",
      handler: before.app.fetch as Handler,
      serves: (operation) => routes.has(routeOf(operation)),
    },
    theFloor,
  ];
}
