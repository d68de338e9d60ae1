/** Reads server-sent events of a response. */
export interface SseEvent {
  readonly id?: string
  readonly event: string
  readonly data: string
}

export async function* sseEvents(response: Response): AsyncGenerator<SseEvent> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = block.split('\n').filter((line) => !line.startsWith(':'))
      if (fields.length === 0) continue
      const fieldOf = (name: string): string | undefined => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const id = fieldOf('id')
      yield {
        ...(id !== undefined && { id }),
        event: fieldOf('event') ?? 'message',
        data: fields.flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : [])).join('\n'),
      }
    }
  }
}

export async function collectSse(response: Response): Promise<readonly SseEvent[]> {
  const events: SseEvent[] = []
  for await (const event of sseEvents(response)) events.push(event)
  return events
}
