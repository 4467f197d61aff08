/** What OWASP's rules find in the documents, and is right as it is. */
export interface Exception {
  rule: string;
  /** Patterns of places: the door, and the words of the path. `*` is one word, or a part of one, and `**` is any words. */
  where: string[];
  reason: string;
}

export const EXCEPTIONS: Exception[] = [];
