import type { JsonObject, Message, ModelPart } from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-object.ts'

/** A call that a reply has brought so far; `input` is the text of its arguments. */
export interface GatheredCall {
  readonly id: string | undefined
  readonly name: string
  readonly input: string
}

export interface NamedCall extends GatheredCall {
  readonly id: string
}

/** Some models do not name their calls. The names are the same whenever the same conversation goes the same way. */
export function withIds(calls: readonly GatheredCall[], messages: readonly Message[]): readonly NamedCall[] {
  if (calls.every(hasId)) return calls
  const earlier = messages.flatMap((message) => (message.role === 'assistant' ? message.parts.filter((part) => part.type === 'call') : []))
  const taken = new Set([...earlier, ...calls].map(({ id }) => id))
  let number = earlier.length
  return calls.map((call) => {
    if (hasId(call)) return call
    do number += 1
    while (taken.has(`call_${number}`))
    return { ...call, id: `call_${number}` }
  })
}

const hasId = (call: GatheredCall): call is NamedCall => call.id !== undefined

/** What a chunk comes to, told with the characters of arguments in it. One that brings nothing shows that the provider is at work. */
export function withWork(parts: readonly ModelPart[], written: number): readonly ModelPart[] {
  if (written > 0) return [...parts, { type: 'working', characters: written }]
  return parts.length > 0 ? parts : [{ type: 'working' }]
}

/** The arguments of an earlier call, for frameworks that want an object. What is none is shown as it was written. */
export function argumentsOf(input: string): JsonObject {
  return parseJsonObject(input) ?? (input.trim() === '' ? {} : { unreadable_arguments: input })
}

/** Nothing is missing at the end of its arguments. */
export const isWhole = ({ input }: GatheredCall): boolean => parseJsonObject(input) !== undefined
