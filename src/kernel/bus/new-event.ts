import { type BusEvent, type Clock, type Ids, type Json, TroupeError } from '../../contracts/index.ts'
import { showDuration } from '../../util/parse-units.ts'
import type { Publication } from '../shared/kernel-types.ts'

const maxHops = 16
const maxChainMs = 10 * 60_000
const maxDataChars = 256 * 1024
const maxIdChars = 200

/** A copy of the data. @throws if the publication is wrong. */
export function checkedData({ name, id, data }: Publication): Json {
  if (!/^[A-Za-z][\w.:-]{0,99}$/.test(name))
    throw wrong('name', `expected the name of an event, not ${JSON.stringify(name)}`, 'Use up to 100 letters, digits and _ . : -')
  if (id !== undefined && (id.length === 0 || id.length > maxIdChars || !id.isWellFormed() || id.includes('\0')))
    throw wrong('id', `expected an id of 1 to ${maxIdChars} characters`, 'Shorten it, or leave it out.')
  const text = jsonText(data)
  if (text === undefined) throw wrong('data', 'expected JSON', 'Publish objects, lists, texts, numbers, booleans or null.')
  if (text.length > maxDataChars)
    throw wrong('data', `${text.length} characters of JSON, at most ${maxDataChars}`, 'Store it elsewhere, and publish where it is.')
  return JSON.parse(text) as Json
}

function jsonText(data: unknown): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

const wrong = (place: string, message: string, remedy: string): TroupeError =>
  new TroupeError('usage', `The event cannot be published: ${place}: ${message}. ${remedy}`, { problems: [{ place, message, remedy }] })

/** Creates events. Their keys are in the order of creation. */
export function newEvent({ clock, ids }: { readonly clock: Pick<Clock, 'now'>; readonly ids: Ids }) {
  let last = 0
  let count = 0
  return ({ name, data, source, id, cause, correlationId }: Publication): { readonly event: BusEvent; readonly key: string } => {
    const at = clock.now()
    // The wall clock may go back.
    count = at > last ? 0 : count + 1
    last = Math.max(at, last)
    // The end of an id is random, the rest is the time.
    const key = `${last.toString(36).padStart(9, '0')}${count.toString(36).padStart(4, '0')}-${ids.next().slice(-9)}`
    const event: BusEvent = {
      // Two extensions may give the same id.
      id: id === undefined ? key : `${source}:${id}`,
      name,
      data,
      correlationId: correlationId ?? cause?.correlationId ?? key,
      hops: cause === undefined ? 0 : cause.hops + 1,
      startedAt: cause?.startedAt ?? at,
      at,
      source,
    }
    return { event, key }
  }
}

/** Why a chain of events ends here, so that agents that wake each other do not run for ever. */
export function chainProblem({ hops, at, startedAt, correlationId }: BusEvent): string | undefined {
  if (hops >= maxHops) return `The chain ${correlationId} has ${maxHops} events that led to each other, and was stopped.`
  if (at - startedAt > maxChainMs) return `The chain ${correlationId} has run for ${showDuration(maxChainMs)}, and was stopped.`
  return undefined
}
