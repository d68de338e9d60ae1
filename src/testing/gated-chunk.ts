/** One server-sent event. A string is sent as it stands, anything else as JSON. */
export interface SseEvent {
  readonly event?: string
  readonly id?: string
  readonly data: unknown
}

export type PlainChunk = string | Uint8Array | SseEvent
/** What is sent at once. A held chunk, and all that comes behind it, waits until the test releases it. */
export type GatedChunk = PlainChunk | { readonly held: PlainChunk }

export function isHeld(chunk: GatedChunk): chunk is { readonly held: PlainChunk } {
  return typeof chunk === 'object' && 'held' in chunk
}

export function bytesOf(chunk: GatedChunk): Uint8Array {
  if (isHeld(chunk)) return bytesOf(chunk.held)
  if (chunk instanceof Uint8Array) return chunk
  return encoder.encode(typeof chunk === 'string' ? chunk : textOf(chunk))
}

const encoder = new TextEncoder()

function textOf({ event, id, data }: SseEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...text.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
  ]
  return `${lines.join('\n')}\n\n`
}
