import { expect, it } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import type { BlobId, CallIntent, CallRecord, InteractionEvent } from '../../../contracts/index.ts'
import { callLines } from '../../commands/sessions/call-lines.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { PlainProgress } from '../plain-progress.ts'
import { renderTree } from './render-tree.ts'

const call = { kind: 'call', id: 't1.s1.1', type: 'tool_call' } as const
const intent = { tool: 'camera', namespace: '', title: 'camera', providerCallId: 'c', input: {}, effect: 'read', lane: { kind: 'shared' } }
const record = {
  status: 'completed',
  content: 'Two pictures',
  latencyMs: 100,
  bytesIn: 1,
  bytesOut: 2,
  parts: [
    { type: 'text', text: 'Two pictures' },
    { type: 'image', mediaType: 'image/png', blob: 'b1.image.png' as BlobId, bytes: 34 * 1024, name: 'shot\u001b.png' },
    { type: 'link', uri: 'https://example.com/report' },
  ],
}

it('shows media type and size of each part: in the tree, in plain progress and in `sessions show -v`', () => {
  const events = new Story()
    .begins()
    .asks(0, 1)
    .answers(500, 1)
    .is(510, { type: 'interaction.item.started', item: { ...call, ...intent } as CallIntent }, 1)
    .is(610, { type: 'interaction.item.completed', item: { ...call, ...record } as unknown as CallRecord }, 1).events as InteractionEvent[]
  const shown = /shot.*\.png image\/png 34\.0 KB\n.*https:\/\/example\.com\/report/
  expect(renderTree(events, { paint: plainPaint, width: 100 }).join('\n')).toMatch(shown)
  const plain = new PlainProgress(plainPaint)
  expect(events.flatMap((event) => plain.lines(event)).join('\n')).toMatch(shown)
  const lines = callLines(events, { width: 100, fileOf: (handle) => `/data/${handle}` }).join('\n')
  expect(lines).toMatch(/image\/png 34\.0 KB: \/data\/b1\.image\.png\n.*https:\/\/example\.com\/report/)
  expect(lines).not.toContain('\u001b')
})
