import type { Json } from '../../contracts/index.ts'
import { type Leaf, type Sourced, sourcedAt } from './sourced.ts'

/**
 * Why a word of a project that nobody has trusted waits, though it would count if the person had said nothing about it
 * in files of their own: a name for a model stands for what they say, and of two bounds the stricter counts.
 */
export function overruling({ path, value }: Leaf, own: Sourced | undefined): string | undefined {
  const said = sourcedAt(own, path)
  if (said?.kind !== 'value') return undefined
  if (choosesModels(path))
    return JSON.stringify(said.value) === JSON.stringify(value) ? undefined : 'which your own configuration says, too'
  return bounds(path) && sizeOf(value) > sizeOf(said.value) ? 'which your own configuration sets lower' : undefined
}

/** Whether which model is asked is said there. */
export const choosesModels = ([section, key]: readonly string[]): boolean =>
  section === 'models' || (section === 'defaults' && key === 'models')

/** Whether how much may be spent is said there. */
const bounds = ([section, key, inner]: readonly string[]): boolean =>
  section === 'queues' || (section === 'defaults' && (key === 'limits' || (key === 'parameters' && inner === 'maxOutputTokens')))

/** Some bounds can be switched off and on, too: `false` is one at a time, `true` as many as there are. */
const sizeOf = (value: Json): number => (typeof value === 'boolean' ? (value ? Number.POSITIVE_INFINITY : 1) : Number(value))
