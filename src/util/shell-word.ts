/** A text as one word of a shell command, quoted if needed. */
export const shellWord = (word: string): string => (/^[\w./@%+=:,^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
