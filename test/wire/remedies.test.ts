import { describe, expect, it } from 'vitest'
import type { GatedReply } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { asking, turnOver } from './turn.ts'

// Whatever goes wrong, the person is told what can be done about it.

const refusal =
  (status: number) =>
  ({ errorBody }: WireFormat): GatedReply => ({
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(errorBody(status, 'Not now.'))],
  })

type Fault = readonly [name: string, reply: (format: WireFormat) => GatedReply]

const faults: readonly Fault[] = [
  ...[401, 402, 403, 404, 413].map((status): Fault => [`status ${status}`, refusal(status)]),
  ['a web page with 200', () => ({ headers: { 'content-type': 'text/html' }, chunks: ['<html></html>'] })],
  ['a redirect', () => ({ status: 307, headers: { location: 'https://example.invalid/' } })],
  ['broken JSON in the middle', ({ encode }) => ({ chunks: encode(asking).toSpliced(3, 0, 'data: {"\n\n') })],
]
const faultsWithoutRemedy: readonly Fault[] = [
  ...[400, 408, 422, 429, 500, 503, 504, 529].map((status): Fault => [`status ${status}`, refusal(status)]),
  ['a web page with 502', () => ({ status: 502, headers: { 'content-type': 'text/html' }, chunks: ['<html></html>'] })],
  ['nothing', () => ({ chunks: [] })],
  ['a cut in the middle', ({ encode }) => ({ chunks: encode(asking).slice(0, 4), ending: 'cut' })],
  ['an end in the middle', ({ encode }) => ({ chunks: encode(asking).slice(0, 4) })],
  ['a breakdown in the middle', ({ encode, breakdown }) => ({ chunks: [...encode(asking).slice(0, 4), ...breakdown] })],
  ['a content filter', ({ encode }) => ({ chunks: encode({ ...asking, finish: 'content-filter' }) })],
  ['a length limit within the calls', ({ encode }) => ({ chunks: encode({ ...asking, finish: 'length' }) })],
]

async function expectRemedy(format: WireFormat, fault: Fault[1]): Promise<void> {
  const { outcome } = await turnOver(format, [fault(format)])
  expect(outcome.status).toBe('failed')
  expect(outcome.remedy).toMatch(/\w+ \w+/)
}

describe.each(formats)('$name', (format) => {
  it.each(faults)('%s: there is a remedy', (_, fault) => expectRemedy(format, fault))
  it.each(faultsWithoutRemedy)('%s: there is a remedy', (_, fault) => expectRemedy(format, fault))
})
