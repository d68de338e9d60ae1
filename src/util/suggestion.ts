import { nearestNames } from './nearest-names.ts'

/** What somebody may have meant who wrote a name that there is not; without names there is nothing to say. */
export function suggestion(wanted: string, known: readonly string[]): string | undefined {
  // Whoever is told that a name does not work is not helped by the same name.
  const others = known.filter((name) => name !== wanted)
  const near = nearestNames(wanted, others)
  if (near.length > 0) return `Did you mean ${near.join(', ')}?`
  if (others.length === 0) return undefined
  const shown = others.slice(0, mostListed).join(', ')
  return others.length > mostListed ? `There are ${shown} and ${others.length - mostListed} more.` : `There are ${shown}.`
}

const mostListed = 20
