import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { nearestNames } from '../util/nearest-names.ts'
import { showValue } from '../util/show-value.ts'

/** What a node is, for messages. `kind` leaves the value out, which may be a secret in the wrong place. */
export function describeNode(node: Node | null, detail: 'value' | 'kind' = 'value'): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return 'an alias'
  const value: unknown = isScalar(node) ? node.value : null
  if (value === null) return 'nothing'
  if (typeof value !== 'string') return detail === 'kind' ? `a ${typeof value}` : `the ${typeof value} ${String(value)}`
  if (value.trim() === '') return 'empty text'
  return detail === 'kind' ? 'text' : showValue(value, 40)
}

export function didYouMean(wanted: string, known: readonly string[]): string | undefined {
  const near = nearestNames(wanted, known)
  return near.length > 0 ? `Did you mean ${listNames(near)}?` : undefined
}

/** The nearest of the known names, or all of them. */
export const suggestName = (wanted: string, known: readonly string[]): string =>
  didYouMean(wanted, known) ?? `Use one of ${listNames(known)}.`

export const listNames = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
