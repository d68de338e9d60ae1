/**
 * Text for a decision: nothing is omitted or moved, and invisible or control characters are shown by their code. Line
 * breaks, tabs and emoji sequences stay.
 */
export function exactText(text: string): string {
  return text.replace(emojiOrInvisible, (found, emoji: string | undefined) => emoji ?? numberOf(found))
}

const numberOf = (character: string): string => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** Control and format characters, lone surrogates, characters without width, and all spaces but the ordinary one. */
const invisible = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/u
/** A pictograph with an optional skin tone or variation selector. */
const pictograph = /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|(?<!\p{Emoji_Presentation})\ufe0f)?/u
/** A joiner outside an emoji is invisible text. */
const emojiOrInvisible = new RegExp(`(${pictograph.source}(?:\\u200d${pictograph.source})*)|${invisible.source}`, 'gu')

/** On one line, with a visible mark for each line break. */
export const exactLine = (text: string): string =>
  exactText(text)
    .trim()
    .replace(/\s+/g, (space) => (space.includes('\n') ? ' ⏎ ' : ' '))
