export function wordsOf(text: string): string[];
export function slugOf(text: string): string;
export const INDEX: { fields: string[]; storeFields: string[]; tokenize: (text: string) => string[] };
