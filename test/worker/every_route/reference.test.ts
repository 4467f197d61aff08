import { expect, it } from "vitest";
import { documents } from "../support/contract.ts";
import { routesBehind } from "../support/routes.ts";

it.each(Object.keys(documents))("The document of %s describes exactly the registered routes", (base) => {
  const described = Object.entries(documents[base]?.paths ?? {}).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  expect(described.sort()).toEqual(routesBehind(base));
});

it("The document says that user_id of GET /call_metrics is a string, as the contract does", () => {
  const operation = documents["/api/external"]?.paths["/call_metrics"]?.get;
  const user = operation?.parameters?.find(({ name }) => name === "user_id");
  expect(user?.schema).toMatchObject({ type: "string", pattern: "^[1-9]\\d*$" });
});
