import { nearestNames } from './nearest-names.ts'

/** What somebody may have meant who wrote a name that there is not; without names there is nothing to say. */
export function suggestion(wanted: string, known: readonly string[]): string | undefined {
  // Whoever is told that a name does not work is not helped by the same name.
  const others = known.filter((name) => name !== wanted)
  const near = nearestNames(wanted, others)
  if (near.length > 0) return `Did you mean ${near.join(', ')}?`
  return others.length === 0 ? undefined : `Available: ${listed(others)}.`
}

/** The nearest name and all that exist: what an unknown name is answered with. */
export function knownNames(wanted: string, known: readonly string[], what: string): string {
  if (known.length === 0) return `No ${what}s are available.`
  const [near] = nearestNames(wanted, known)
  const all = `Available: ${listed(known.toSorted())}.`
  return near === undefined ? all : `Did you mean "${near}"? ${all}`
}

const listed = (names: readonly string[]): string =>
  names.length > mostListed ? `${names.slice(0, mostListed).join(', ')} and ${names.length - mostListed} more` : names.join(', ')

const mostListed = 20
