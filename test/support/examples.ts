import { externalExamples } from "./examples_external.ts";
import { platformExamples } from "./examples_platform.ts";

/** An example for each route of an API, by method and pattern. Tests fail if a route is missing here. */
export const examples = { external: externalExamples, platform: platformExamples };
