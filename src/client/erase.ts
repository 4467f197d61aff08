import type {
  EraseParticipationsData,
  EraseParticipationsResponse,
} from "../../dist/client/external/types.gen.js";
import type { RequestOptions } from "./request.ts";

/** The person to erase, and whether to delete the transcripts, SOAP notes and recordings of their calls too. */
export type PersonToErase = NonNullable<EraseParticipationsData["query"]>;

export async function eraseParticipant(
  erasePortion: (person: PersonToErase, options?: RequestOptions) => Promise<EraseParticipationsResponse>,
  person: PersonToErase,
  options?: RequestOptions,
): Promise<EraseParticipationsResponse> {
  for (let erased_count = 0; ; ) {
    const portion = await erasePortion(person, options);
    erased_count += portion.erased_count;
    if (portion.remaining_count === 0) return { ...portion, erased_count };
  }
}
