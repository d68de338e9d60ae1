/** Adds a full stop if the text has no end mark. */
export const asSentence = (words: string): string => words.trimEnd().replace(/[^.!?…]$/u, '$&.')
