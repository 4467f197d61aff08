/** Every operation of both doors. */
import { app } from "../../src/app.ts";
import type { Example } from "./example_parts.ts";
import { externalExamples } from "./operations_external.ts";
import { platformExamples } from "./operations_platform.ts";

export type Door = "external" | "platform";

export interface Operation {
  /** Method and path; after a comma, what is particular to the example. */
  name: string;
  door: Door;
  example: Example;
}

const examples = { external: externalExamples, platform: platformExamples };

export const operations: Operation[] = Object.entries(examples).flatMap(([door, examplesOfDoor]) =>
  Object.entries(examplesOfDoor).map(([name, example]) => ({ name, door: door as Door, example })),
);

/** Method and whole path; the names of parameters are left out, since they may differ between checkouts. */
export function routeOf({ name, door }: Pick<Operation, "name" | "door">): string {
  const [method, path] = name.replace(/,.*/, "").split(" ");
  return withoutNames(`${method} /api/${door}${path}`);
}

const withoutNames = (route: string) => route.replace(/:\w+/g, ":");

/** The routes behind both doors. */
export const routesOf = ({ routes }: Pick<typeof app, "routes">): string[] =>
  routes
    .filter(({ method, path }) => method !== "ALL" && /^\/api\/(external|platform)\//.test(path))
    .map(({ method, path }) => withoutNames(`${method} ${path}`));

/** @throws Error naming the routes that nothing here measures */
export function requireEveryOperation() {
  const measured = new Set(operations.map(routeOf));
  const missing = routesOf(app).filter((route) => !measured.has(route));
  if (missing.length > 0) throw new Error(`No example in test/bench/operations_*.ts: ${missing.join(", ")}`);
}
