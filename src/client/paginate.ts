import { FULL_PAGE, type RequestOptions } from "./request.ts";

/** The type of the items in a page. */
export type ItemOf<Page> = {
  [Key in keyof Page]: Page[Key] extends readonly (infer Item)[] ? Item : never;
}[keyof Page];

type Arguments<Query> = undefined extends Query
  ? [query?: Query, options?: RequestOptions]
  : [query: Query, options?: RequestOptions];

/**
 * Iterates over all items of a list and fetches each page when it is needed:
 * `for await (const room of paginate(visits.listWaitingRooms))`.
 *
 * While you iterate, do not delete items or change them so that they leave the list: the items after them would move up to
 * pages that were already read, and you would miss them. Collect the items first.
 *
 * @param list a function of the client that returns pages
 */
export async function* paginate<Query, Page extends object>(
  list: (query: Query, options?: RequestOptions) => Promise<Page>,
  ...[query, options]: Arguments<Query>
): AsyncGenerator<ItemOf<Page>, void, undefined> {
  let asked: { after?: unknown } = { per_page: FULL_PAGE, ...query } as object;
  for (;;) {
    const page: object = await list(asked as Query, options);
    const items: ItemOf<Page>[] | undefined = Object.values(page).find(Array.isArray);
    if (!items) throw new TypeError("paginate: the function does not return pages");
    for (const item of items) {
      options?.signal?.throwIfAborted();
      yield item;
    }
    const { pagination, next_after: next = null } = page as Position;
    const isLast = pagination
      ? pagination.current_page >= pagination.total_pages
      : next === null || next === asked.after;
    if (isLast) return;
    asked = { ...asked, ...(pagination ? { page: pagination.current_page + 1 } : { after: next }) };
  }
}

interface Position {
  pagination?: { current_page: number; total_pages: number };
  next_after?: number | string | null;
}
