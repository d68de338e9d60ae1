import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'

/** What stands there instead, in words. */
export function describeNode(node: Node | null): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return 'an alias'
  const value: unknown = isScalar(node) ? node.value : null
  if (value === null) return 'nothing'
  if (typeof value !== 'string') return `the ${typeof value} ${String(value)}`
  return value.trim() === '' ? 'an empty one' : showValue(value, 40)
}

/** The nearest of the names, where one is near. */
export function didYouMean(wanted: string, known: readonly string[]): string | undefined {
  const near = nearestNames(wanted, known)
  return near.length > 0 ? `Did you mean ${listNames(near)}?` : undefined
}

export const listNames = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
