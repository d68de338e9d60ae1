/**
 * Calls `done` once: when a streamed body has been sent, or its reader has left. For other responses, immediately.
 * The body is read as it is sent: nothing is buffered. `signal`: aborted when the client disconnects, which may be before anybody
 * reads the body; nobody would end it then.
 */
export function onBodyEnd(response: Response, done: () => void, signal?: AbortSignal): Response {
  const { body, status, headers } = response
  if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) {
    done()
    return response
  }
  const reader = body.getReader()
  let isDone = false
  const end = (): void => {
    if (isDone) return
    isDone = true
    signal?.removeEventListener('abort', abandon)
    done()
  }
  const abandon = (): void => {
    end()
    reader.cancel().catch(() => {})
  }
  if (signal?.aborted) abandon()
  else signal?.addEventListener('abort', abandon)
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
