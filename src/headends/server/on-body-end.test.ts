import { expect, it } from 'vitest'
import { onBodyEnd } from './on-body-end.ts'

function stage(signal: AbortSignal) {
  const seen: string[] = []
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: () => void seen.push('cancelled'),
  })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  return { seen, watched: onBodyEnd(response, () => seen.push('done'), signal) }
}

it('releases a stream whose client left before anybody read it', () => {
  expect(stage(AbortSignal.abort()).seen).toEqual(['done', 'cancelled'])
})

it('releases a stream whose client leaves, once', async () => {
  const leaving = new AbortController()
  const { seen, watched } = stage(leaving.signal)
  const reader = watched.body?.getReader()
  await reader?.read()
  expect(seen).toEqual([])
  leaving.abort()
  await reader?.cancel()
  expect(seen).toEqual(['done', 'cancelled'])
})
