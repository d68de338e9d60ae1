import { expect, it } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import type { InteractionEvent, SessionExport, StreamEvent } from '../../contracts/index.ts'
import { escaped, sessionHtml } from './session-html.ts'

const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&`
const limits = { maxToolTurns: 10, maxRetries: 3, parallelToolCalls: 4 }
const agent = { name: hostile, toolName: hostile, description: '', models: [hostile], limits }

const bodies: readonly object[] = [
  { type: 'interaction.session.created', agent, trace: { originId: '', callPath: hostile, turnPath: '' }, tools: [] },
  {
    type: 'interaction.input.accepted',
    clientId: 'c1',
    mode: 'queue',
    parts: [
      { type: 'text', text: hostile },
      { type: 'image', mediaType: 'image/png', data: 'blob:b1', bytes: 3 },
      { type: 'image', mediaType: 'image/png"><script>', data: 'AAAA' },
      { type: 'file', mediaType: 'a/b', data: 'blob:b2', name: hostile, bytes: 3 },
    ],
  },
  { type: 'interaction.turn.started', inputs: ['c1'] },
  {
    type: 'interaction.turn.failed',
    ending: { status: 'failed', reason: 'model', message: hostile, remedy: hostile },
    totals: { usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, cost: 0, steps: 0, calls: 0, durationMs: 5 },
  },
  { type: 'interaction.input.accepted', clientId: 'c2', mode: 'queue', parts: [{ type: 'text', text: 'not read yet' }] },
]

const document = {
  session: { title: hostile, agent: hostile, status: 'failed', createdAt: 0 },
  events: bodies.map(
    (body, index) => ({ seq: index + 1, sessionId: 's', treeId: 's', agentPath: 'root', at: 0, turnId: 't', ...body }) as InteractionEvent,
  ),
  blobs: { b1: { mediaType: 'image/png', data: 'iVBO' } },
} as unknown as SessionExport

it('is one page without scripts, in which every text is text', () => {
  const html = sessionHtml(document, { markdown: escaped })
  expect(html.replaceAll(escaped(hostile), '')).not.toMatch(/alert|onerror|<script/)
  expect(html.match(/<img[^>]*>/g)).toEqual(['<img alt="" src="data:image/png;base64,iVBO">'])
  expect(html).toContain(`content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"`)
  expect(html).toContain('not read yet')
  expect(html).toContain(`failed: the model failed: ${escaped(`${hostile}: ${hostile}`)}`)
})

it('says of a child its task, what failed inside, and work and waiting time', () => {
  const events: StreamEvent[] = []
  const root = new Story('root', events).begins().asks(0, 1).answers(100, 1)
  root.calls(100, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
  const scout = new Story('root/scout#1', events).begins(100, {}, { of: 'root', call: 't1.s1.1' }).asks(100, 1).answers(200, 1)
  scout.calls(200, 1, { id: '1' }).ends(300, 1, { id: '1', error: { class: 'network', message: 'No.' } })
  scout.asks(300, 2).answers(400, 2).wants(400, 2, { call: '1' }).decides(50_400, 2, { call: '1' }).over(50_500)
  root.ends(50_500, 1, { id: '1', latencyMs: 50_400 }).over(50_500)
  const html = sessionHtml({ ...document, events: events as InteractionEvent[] }, { markdown: escaped })
  expect(html).toContain('<h3>scout <span>Oslo</span> <small>completed · 1 failed inside · 400 ms work · 50 s waiting</small></h3>')
})
