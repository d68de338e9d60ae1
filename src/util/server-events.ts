/** A server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** What is needed of a `ReadableStream`, in browsers and in Node. */
interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

/** The events of a stream. `heard` is called for every piece, heartbeats included. */
export async function* serverEvents(stream: ByteStream, heard: () => void = () => {}): AsyncGenerator<ServerEvent> {
  const reader = stream.getReader()
  const decoder = new TextDecoder('utf-8')
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parseBlock(block)
        if (event) yield event
      }
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) data.push(line.slice(6))
    else if (line.startsWith('event: ')) event = line.slice(7)
  }
  return data.length > 0 ? { event, data: data.join('\n') } : undefined
}
