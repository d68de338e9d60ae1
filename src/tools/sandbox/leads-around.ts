import { isInside } from '../../util/is-inside.ts'
import { stepsTo } from './steps-to.ts'

/** Where a path leads, if no part of the way is in a place where a command may have put whatever it likes. */
export function leadsAround(places: readonly string[], path: string): readonly string[] {
  const way = stepsTo(path)
  return way?.steps.every((step) => !places.some((place) => isInside(place, step.path))) ? [way.end] : []
}
