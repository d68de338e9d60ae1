/** A text as it is written most simply for a shell to take it for one word that is only itself. */
export const shellWord = (word: string): string => (/^[\w./@%+=:,^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
