import { expect, it } from "vitest";
import { MUTATIONS as OF_THE_MODEL } from "../model/mutations.ts";
import { mutatedSource } from "../simulator/isolate.ts";
import { MUTATIONS as OF_THE_SIMULATOR } from "../simulator/mutations.ts";

it.each([...OF_THE_MODEL, ...OF_THE_SIMULATOR])(
  "The source has the one place of the mutation: $name",
  async (mutation) => {
    expect(await mutatedSource(mutation)).toContain(mutation.to);
  },
);
