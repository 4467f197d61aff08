export function wordsOf(text: string): string[];
export function slugOf(text: string): string;
