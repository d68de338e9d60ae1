import { sessionFieldLimits } from '../contracts/index.ts'
import type { FieldType } from '../util/option-problems.ts'

const { titleChars: maxTitleChars, labels: maxLabels, labelChars: maxLabelChars } = sessionFieldLimits

const isLine = (value: unknown, maxChars: number): boolean =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= maxChars &&
  value.isWellFormed() &&
  !/[\p{Cc}\u2028\u2029]/u.test(value)

export const aTitle: FieldType = {
  expected: `one line of 1 to ${maxTitleChars} characters`,
  remedy: 'Use a shorter title without line breaks.',
  accepts: (value) => isLine(value, maxTitleChars),
}

export const someLabels: FieldType = {
  expected: `a list of at most ${maxLabels} labels, each one line of 1 to ${maxLabelChars} characters`,
  remedy: 'Use fewer or shorter labels.',
  accepts: (value) => Array.isArray(value) && value.length <= maxLabels && value.every((label) => isLine(label, maxLabelChars)),
}
