import type { JsonObject, Message, ModelPart } from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'

/** A call that a reply has contained so far; `input` is the text of its arguments. */
export interface GatheredCall {
  readonly id: string | undefined
  readonly name: string
  readonly input: string
}

export interface NamedCall extends GatheredCall {
  readonly id: string
}

/** Some models give no ids to their calls. The generated ids are deterministic for a conversation. */
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

/** The parts of a chunk, with the number of argument characters in it. An empty chunk shows that the provider is working. */
export function withProgress(parts: readonly ModelPart[], written: number): readonly ModelPart[] {
  if (written > 0) return [...parts, { type: 'working', characters: written }]
  return parts.length > 0 ? parts : [{ type: 'working' }]
}

/** The arguments of an earlier call, for frameworks that need an object. Invalid arguments are passed on as text. */
export function argumentsOf(input: string): JsonObject {
  return parseJsonObject(input) ?? (input.trim() === '' ? {} : { unreadable_arguments: input })
}

/** Its arguments are complete. */
export const isWhole = ({ input }: GatheredCall): boolean => parseJsonObject(input) !== undefined
