import { utf8Length } from './fit-text.ts'

/** Of each byte beyond the first of a letter. A Chinese one has three, and is about a token, as four Latin ones are. */
const perFurtherByte = 1.5

/** How many Latin letters a text is worth to whoever counts tokens. One that is shorter than `least` is taken for Latin without a look. */
export function textWeight(text: string, least = 0): number {
  const { length } = text
  return length < least ? length : length + perFurtherByte * (utf8Length(text) - length)
}
