/** Adds a full stop if the text has no end mark. */
export const asSentence = (words: string): string => words.trimEnd().replace(/[^.!?…]$/u, '$&.')

/** For display: a fragment becomes a sentence, but a name at its beginning stays. Text with an end mark or several lines stays. */
export function displaySentence(message: string): string {
  if (/[.!?…:]$/u.test(message) || message.includes('\n')) return message
  return asSentence(message.replace(/^[a-z]+(?=,? [^–])/, (word) => `${word[0]?.toUpperCase()}${word.slice(1)}`))
}
