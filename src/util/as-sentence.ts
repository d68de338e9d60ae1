/** Words of somebody else, with a full stop where they have no end of their own. */
export const asSentence = (words: string): string => words.trimEnd().replace(/[^.!?…]$/u, '$&.')
