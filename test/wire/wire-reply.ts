import type { JsonObject, Usage } from '../../src/contracts/index.ts'

export interface WireCall {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

/** A reply before it is put into any format. */
export interface WireReply {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly WireCall[]
  readonly finish: 'stop' | 'tool-calls' | 'length' | 'content-filter'
  /** As the port counts: `cacheRead` and `cacheWrite` are within `input`, `reasoning` within `output`. */
  readonly usage: Usage
  /** What OpenRouter says that it took. */
  readonly costUsd?: number
}

/** The moment at which every scripted reply was made, in seconds. */
export const createdAt = 1_767_225_600

/** How a model's tokens cut a text: pieces that together are the text, none of them empty. */
export function pieces(text: string, size = 9): readonly string[] {
  const letters = Array.from(text)
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, i) => letters.slice(i * size, (i + 1) * size).join(''))
}
