/** Adds a full stop if the text has no end mark. */
export const asSentence = (words: string): string => words.trimEnd().replace(/[^.!?…]$/u, '$&.')

/** For display: also begins with a capital letter, unless it begins with a name or a command. */
export function displaySentence(message: string): string {
  const text = message.replace(/^(?!troupe )[a-z]+(?=,? [^–])/, (word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return text.endsWith(':') || text.includes('\n') ? text : asSentence(text)
}
