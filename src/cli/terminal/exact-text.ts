import { charactersOf, widthOf } from './text-width.ts'

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
    .replace(/\s*\n\s*/g, ' ⏎ ')
    .replace(/\s+/g, ' ')

const tabWidth = 8

/** Exact text, broken at the width of the terminal. */
export function exactLines(text: string, width: number): readonly string[] {
  return exactText(text)
    .split('\n')
    .flatMap((line) => breakAtWidth(line, Math.max(1, width)))
}

export function breakAtWidth(line: string, width: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const character of charactersOf(line)) {
    // A tab is shown as the spaces that it would take.
    const shown = character === '\t' ? ' '.repeat(tabWidth - (used % tabWidth)) : character
    const size = widthOf(shown)
    if (used > 0 && used + size > width) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += shown
    used += size
  }
  return [...rows, row]
}
