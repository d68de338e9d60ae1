import { utf8Length } from './fit-text.ts'

/** A shorter one is not worth a look. */
const shortest = 64
/** Of each byte beyond the first of a letter. A Chinese one has three, and is about a token, as four Latin ones are. */
const perFurtherByte = 1.5

/** How many Latin letters a text is worth to whoever counts tokens. */
export function textWeight(text: string): number {
  const { length } = text
  return length < shortest ? length : length + perFurtherByte * (utf8Length(text) - length)
}
