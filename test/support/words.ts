/** The words of a text, for long lists of texts without white space. Backslashes are literal. */
export const words = (text: { raw: readonly string[] }) => String(text.raw[0]).trim().split(/\s+/);
