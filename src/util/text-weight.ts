import { utf8Length } from './fit-text.ts'

/** For each byte after the first of a character. A Chinese character has three bytes and is about one token, like four Latin letters. */
const perFurtherByte = 1.5

/** The number of Latin letters with the same number of tokens. A text shorter than `least` is assumed to be Latin. */
export function textWeight(text: string, least = 0): number {
  const { length } = text
  return length < least ? length : length + perFurtherByte * (utf8Length(text) - length)
}
