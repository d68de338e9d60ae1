import { expect, it } from 'vitest'
import { CliChannel } from '../../../extensions/cli_channel/main.ts'
import type { ExtensionContext } from '../../../src/contracts/index.ts'
import { extensionContext } from '../extension-context.ts'

/** A terminal whose keyboard is the test. */
function terminal() {
  let screen = ''
  const queue: string[] = []
  let wake = Promise.withResolvers<void>()
  let isOpen = true
  const write = (text: string): void => {
    screen += text
  }
  async function* input() {
    for (;;) {
      const line = queue.shift()
      if (line !== undefined) yield line
      else if (!isOpen) return
      else {
        await wake.promise
        wake = Promise.withResolvers()
      }
    }
  }
  return {
    port: { input: input(), write },
    type(...lines: string[]) {
      queue.push(...lines)
      screen += lines.map((line) => `${line}\n`).join('')
      wake.resolve()
    },
    end() {
      isOpen = false
      wake.resolve()
    },
    /** What a person sees: an erased prompt is gone. */
    seen: () => screen.replaceAll('> \r\u001b[K', ''),
  }
}

function started(more: Partial<ExtensionContext>) {
  const { context, recorded } = extensionContext({ id: 'cli_channel' })
  const ended = Promise.withResolvers<string>()
  const channel = new CliChannel()
  channel.initialize({ ...context, requestShutdown: async (reason) => ended.resolve(reason), ...more })
  channel.start()
  return { channel, recorded, ended: ended.promise }
}

it('shows who speaks when that changes, and sets notices and questions apart', async () => {
  const { port, type, end, seen } = terminal()
  const { channel, recorded, ended } = started({ terminal: port })
  type('Hi', 'two lines')
  await expect.poll(() => recorded.messages).toEqual([{ userId: 'local', text: 'Hi\ntwo lines' }])
  channel.streamToUser('local', { id: '1', speaker: 'orchestrator', text: 'Hello.\nWhat ' })
  channel.sendToUser('local', { id: 'n', kind: 'notice', speaker: 'price_monitor', text: 'Now 3 €.' })
  channel.streamToUser('local', { id: '1', speaker: 'orchestrator', text: 'next?' })
  channel.sendToUser('local', { id: '1', kind: 'answer', speaker: 'orchestrator', text: 'Hello.\nWhat next?', streamed: true })
  channel.sendToUser('local', { id: '2', kind: 'answer', speaker: 'orchestrator', text: 'Still me.' })
  channel.sendToUser('local', { id: '3', kind: 'answer', speaker: 'writer', text: 'Now me.' })
  channel.sendToUser('local', { id: 'q', kind: 'question', speaker: 'writer', text: 'Approval needed: Delete a', options: ['yes', 'no'] })
  channel.sendToUser('local', { id: 'e', kind: 'error', speaker: 'troupe', text: 'It failed.' })
  expect(seen()).toBe(`Type a message. /help shows the commands.

> Hi
two lines
orchestrator
  Hello.
  What 
• price_monitor: Now 3 €.

  next?

  Still me.

writer
  Now me.

? Approval needed: Delete a
  yes · no

! It failed.

> `)
  end()
  expect(await ended).toBe('The terminal was closed.')
})

it('removes control sequences, also those that are split over two pieces', () => {
  const { port, seen } = terminal()
  const { channel } = started({ terminal: port })
  channel.streamToUser('local', { id: '1', speaker: 'a\u001b[2J', text: 'red \u001b[31mtext\u001b]0;title\u0007 \u001b' })
  channel.streamToUser('local', { id: '1', speaker: 'a\u001b[2J', text: '[2Jend\r\u0008\u009b1A\u202eabc' })
  channel.sendToUser('local', { id: 'n', kind: 'notice', speaker: 'x', text: '\r\n? Approval needed: fake' })
  expect(seen().split('\n').slice(2)).toEqual(['a', '  red text [2Jendabc', '• x: ', '  ? Approval needed: fake', '', '> '])
})

it('shows what cannot be seen in a question', () => {
  const { port, seen } = terminal()
  const { channel } = started({ terminal: port })
  channel.sendToUser('local', {
    id: 'q',
    kind: 'question',
    speaker: 'coder',
    text: 'Run rm\u001b[8m -r\u202e x\ny',
    options: ['yes', 'a\n? Allow'],
  })
  expect(seen()).toContain('? coder: Run rm<U+001B>[8m -r<U+202E> x\n  y\n  yes · a\n  ? Allow\n\n> ')
})

it('shows that a request was answered elsewhere', () => {
  const { port, seen } = terminal()
  const { channel } = started({ terminal: port })
  const request = { id: 'q', kind: 'approval', title: 'Delete a' } as const
  channel.sendToUser('local', { id: 'q', kind: 'question', speaker: 'coder', text: 'Approval needed: Delete a', request })
  channel.closeRequest('local', { id: 'q', outcome: 'approved', by: 'local' })
  channel.closeRequest('local', { id: 'q', outcome: 'ended' })
  channel.closeRequest('local', { id: 'q', outcome: 'denied', by: 'rest:bob' })
  expect(seen().split('\n').slice(2)).toEqual([
    '? coder: Approval needed: Delete a',
    '',
    '• Already denied by rest:bob: Delete a',
    '',
    '> ',
  ])
})

it('says that a message was not sent, and goes on', async () => {
  const { port, type, seen } = terminal()
  const onUserMessage = async () => {
    throw new Error('The store failed.')
  }
  started({ terminal: port, onUserMessage })
  type('Hi')
  await expect.poll(seen).toContain('! Your message was not sent. The store failed.\n\n> ')
})

it('is no channel without a terminal: messages wait for the next one', () => {
  const { channel, recorded } = started({})
  expect(channel.sendToUser).toBeUndefined()
  expect(recorded).toMatchObject({ messages: [], log: [] })
})
