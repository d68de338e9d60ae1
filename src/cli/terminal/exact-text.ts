import { charactersOf, widthOf } from './paint.ts'

/**
 * Text as it is, for whoever has to decide about it: nothing is left out or moved, and what could not be seen, or could
 * steer a terminal, is shown by its number. Line ends and tabs stay, and so does what one emoji is spelt with.
 */
export function exactText(text: string): string {
  return text.replace(emojiOrUnseen, (found, emoji: string | undefined) => emoji ?? numberOf(found))
}

const numberOf = (character: string): string => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** Controls, formats, halves of characters, all that takes no room, and every space but the ordinary one. */
const unseen = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/u
/** A picture, perhaps with its skin, or with the selector that makes an emoji of what is a sign without it. */
const picture = /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|(?<!\p{Emoji_Presentation})\ufe0f)?/u
/** A joiner is part of an emoji only between two pictures: anywhere else it hides. */
const emojiOrUnseen = new RegExp(`(${picture.source}(?:\\u200d${picture.source})*)|${unseen.source}`, 'gu')

/** The same in one line: where a line ends is seen, so that the next one cannot pass for the rest of it. */
export const exactLine = (text: string): string =>
  exactText(text)
    .trim()
    .replace(/\s*\n\s*/g, ' ⏎ ')
    .replace(/\s+/g, ' ')

const tabWidth = 8

/** The lines of an exact text, each breakLine where the window ends: what follows a break cannot pass for a line of ours. */
export function exactLines(text: string, width: number): readonly string[] {
  return exactText(text)
    .split('\n')
    .flatMap((line) => breakLine(line, Math.max(1, width)))
}

function breakLine(line: string, width: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const character of charactersOf(line)) {
    // A tab reaches up to eight columns, depending on where it stands; as spaces it is what it looks like.
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
