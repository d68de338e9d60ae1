import { isEventStream } from './carry-stream.ts'

/**
 * Calls `done` once: when a streamed body has been sent, or its reader has left. For other responses, immediately.
 * The body is read as it is sent: nothing is buffered.
 */
export function onBodyEnd(response: Response, done: () => void): Response {
  if (!isEventStream(response)) {
    done()
    return response
  }
  const { body, status, headers } = response
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let isDone = false
  const end = (): void => {
    if (!isDone) done()
    isDone = true
  }
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done: isLast } = await reader.read()
          if (!isLast) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        end()
      },
      async cancel(reason) {
        end()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(watched, { status, headers })
}
