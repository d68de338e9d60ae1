import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import { Window } from '../../../../test/fixtures/terminal-window.ts'
import type { AgentDescription, SessionEntry, StreamEvent } from '../../../contracts/index.ts'
import { defaultLimits } from '../../../contracts/index.ts'
import { FakeClock } from '../../../testing/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import type { Host } from '../../terminal/process-host.ts'
import type { ChatService } from './chat-service.ts'
import { TerminalChat } from './terminal-chat.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-chat-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const agent: AgentDescription = {
  ...{ name: 'root', description: 'A test', input: { format: 'text' }, output: { format: 'text' } },
  ...{ limits: defaultLimits, parameters: {}, overrides: [], models: ['fast'], tools: [], agents: [] },
}

/** A chat whose session does what the test says. */
async function chatting() {
  const clock = new FakeClock(0)
  const window = new Window({ width: 60, height: 16 })
  const keys = Object.assign(new EventEmitter(), { setRawMode: () => {}, resume: () => {}, pause: () => {} })
  const events: StreamEvent[] = []
  let wake = (): void => {}
  const sent: string[] = []
  const sessions: Partial<ChatService['sessions']> = {
    agents: () => [agent],
    start: async (input) => {
      sent.push(String(input))
      return 's1' as SessionEntry['sessionId']
    },
    send: async (_, input, options) => {
      sent.push(`${options?.mode} ${String(input)}`)
      return { clientId: 'c' as never, driven: true }
    },
    approve: async (_, { approvalId, decision }) => {
      sent.push(`${approvalId} ${decision.kind}`)
      return { clientId: 'c' as never, driven: true }
    },
    async *events() {
      for (;;) {
        const event = events.shift()
        if (event) yield event
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    },
  }
  const service: Partial<ChatService> = {
    sessions: sessions as ChatService['sessions'],
    dataFolder: folder,
    models: [],
    redact: (text) => text,
  }
  const host: Partial<Host> = {
    now: () => clock.now(),
    paint: plainPaint,
    stdin: keys as unknown as Host['stdin'],
    onInterrupt: () => () => {},
  }
  const chat = new TerminalChat({
    ...{ service: service as ChatService, agent, model: undefined, opens: undefined, terminal: window, clock },
    host: host as Host,
  })
  const left = chat.run()
  /** The events of a story, as they arrive. */
  const happen = async (story: Story): Promise<void> => {
    events.push(...story.events.splice(0))
    wake()
    while (events.length > 0) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const type = (text: string): void => void keys.emit('data', Buffer.from(text))
  type('Go\r')
  await new Promise((resolve) => setImmediate(resolve))
  return { clock, window, type, happen, left, sent }
}

test('an agent that streams 200 events a second costs at most 13 frames a second, and every key is drawn immediately', async () => {
  const { clock, window, type, happen, sent } = await chatting()
  const story = new Story().begins().asks(0, 1)
  await happen(story)
  clock.advance(100)
  const [writes, bytes] = [window.written.length, window.written.join('').length]
  let keys = 0
  for (let i = 0; i < 1_000; i++) {
    clock.advance(5)
    await happen(story.says(1, i % 40 === 39 ? 'word.\n\n' : 'word '))
    if (i % 50 === 0) {
      const before = window.written.length
      type('x')
      keys++
      expect(window.written.length).toBe(before + 1)
      expect(window.written.at(-1)).toContain('x')
    }
  }
  // 5 seconds.
  expect(window.written.length - writes - keys).toBeLessThanOrEqual(5 * 13)
  // The text is 5 KB; each frame rewrites the rows that changed.
  expect(window.written.join('').length - bytes).toBeLessThan(40_000)
  type('\r')
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toEqual(['Go', `steer ${'x'.repeat(keys)}`])
})

test('a message that was begun does not answer a request, and two requests are asked one after the other', async () => {
  const { clock, window, type, happen, sent } = await chatting()
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const shown = async (): Promise<string> => (await window.rows()).join('\n')
  const story = new Story().begins().asks(0, 1).answers(0, 1)
  await happen(story)
  type('and ready? y')
  await happen(story.wants(10, 1, { call: '1', summary: 'Write a.txt' }).wants(10, 1, { call: '2', summary: 'Write b.txt' }))
  clock.advance(100)
  expect(await shown()).toMatch(/Write a\.txt[\s\S]*› and ready\? y$/)
  type('\r')
  await settled()
  expect(sent).toEqual(['Go', 'steer and ready? y'])
  type('y\r')
  await settled()
  // Until the answer has arrived, nothing more is read.
  type('y\r')
  await settled()
  expect(sent.slice(2)).toEqual(['a1 approve'])
  expect(await shown()).not.toContain('Write b.txt')
  await happen(story.decides(20, 1, { call: '1' }))
  clock.advance(100)
  clock.advance(100)
  expect(await shown()).toMatch(/approved\n[\s\S]*Write b\.txt[\s\S]*\? $/)
  type('n\r')
  await settled()
  expect(sent.slice(3)).toEqual(['a2 deny'])
})

test('a paste of a megabyte costs one frame', async () => {
  const { window, type } = await chatting()
  const before = window.written.length
  const text = `\u001b[200~${'0123456789abcde\r'.repeat(65_536)}\u001b[201~`
  for (let at = 0; at < text.length; at += 65_536) type(text.slice(at, at + 65_536))
  const written = window.written.slice(before).join('')
  expect(written).toContain('[Pasted text 1: 65,537 lines]')
  expect(written.length).toBeLessThan(500)
})

test('Ctrl-C twice leaves, and anything in between does not', async () => {
  const { type, left } = await chatting()
  let isOver = false
  void left.then(() => {
    isOver = true
  })
  type('\u0003')
  type('a')
  type('\u0003')
  await Promise.resolve()
  expect(isOver).toBe(false)
  type('\u0003')
  expect(await left).toBeUndefined()
})
