import { sessionFieldLimits } from '../../contracts/index.ts'

/** A text of a client as a label: one line, cut to the length of a label. */
export const labelOf = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, sessionFieldLimits.labelChars)
    .toWellFormed()
