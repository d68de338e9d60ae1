import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { redactor } from '../../src/util/redact.ts'
import { FakeChannel, message, stage } from './router-stage.ts'

// What the runtime does not know as a secret: it was set later, or an extension sends it.

const secret = 'xoxb-4711-chat'
const hidden = '[redacted:SLACK_TOKEN]'
const router = { redactor: () => redactor({ SLACK_TOKEN: secret }) }

it('texts, pieces and notices have their secrets replaced, wherever a piece ends', async () => {
  const seen = gate()
  const script = [{ text: `It is ${secret}, I think: ${secret}`, chunks: 9 }]
  const { router: found, stop } = await stage(memoryStore(), script, { router, afterPiece: seen.promise })
  const channel = new FakeChannel()
  found.register('chat', channel)
  await found.receive('chat', message('What is it?'))
  await expect.poll(() => channel.pieces.length).toBe(1)
  seen.open()
  await channel.until(1)
  await found.notify({ text: `From an extension: ${secret}`, to: { channel: 'chat', userId: 'ann' } })
  await channel.until(2)
  await found.announce(`Lost: ${secret}`)
  expect(channel.lines()).toEqual([
    `answer orchestrator: It is ${hidden}, I think: ${hidden}`,
    `notice troupe: From an extension: ${hidden}`,
    `error troupe: Lost: ${hidden}`,
  ])
  expect(channel.messages[0]?.message.streamed).toBe(true)
  expect(channel.pieces.map(({ piece }) => piece.text).join('')).toBe(`It is ${hidden}, I think: ${hidden}`)
  await stop()
})

it('a channel that does not take the last piece gets the message as a whole', async () => {
  const seen = gate()
  const script = [{ text: 'The start is xoxb-', chunks: 2 }]
  const { router: found, stop } = await stage(memoryStore(), script, { router, afterPiece: seen.promise })
  const channel = new FakeChannel()
  const pieces: string[] = []
  Object.assign(channel, {
    streamToUser(_: string, piece: { readonly text: string }) {
      if (piece.text === 'xoxb-') throw new Error('too late')
      pieces.push(piece.text)
    },
  })
  found.register('chat', channel)
  await found.receive('chat', message('Hi'))
  await expect.poll(() => pieces.length).toBe(1)
  seen.open()
  await channel.until(1)
  expect(pieces.join('')).toBe('The start is ')
  expect(channel.messages[0]?.message).toMatchObject({ text: 'The start is xoxb-' })
  expect(channel.messages[0]?.message).not.toHaveProperty('streamed')
  await stop()
})

it('exports have their secrets replaced', async () => {
  const { router: found, stop } = await stage(memoryStore(), [{ text: `It is ${secret}` }], { router })
  const channel = new FakeChannel()
  found.register('chat', channel)
  await found.receive('chat', message('What is it?'))
  await channel.until(1)
  const file = await found.conversationsOf('chat').export({ userId: 'ann' })
  const text = new TextDecoder().decode(await file?.read())
  expect(text).toContain(`It is ${hidden}`)
  expect(text).not.toContain(secret)
  await stop()
})

it('requests have their secrets replaced', async () => {
  const send: Tool = {
    name: 'send',
    description: 'Sends',
    inputSchema: { type: 'object' },
    effect: 'write',
    approval: ({ to }) => ({ summary: `Send it to ${to}`, keys: [{ key: `to:${to}`, label: String(to) }] }),
    execute: () => 'sent',
  }
  const { router: found, stop } = await stage(memoryStore(), [{ calls: [{ tool: 'send', input: { to: secret } }] }], {
    router,
    tools: [send],
  })
  const channel = new FakeChannel()
  found.register('chat', channel)
  await found.receive('chat', message('Send it'))
  await channel.until(1)
  const shown = channel.messages[0]?.message
  expect(shown?.text).toBe(`Approval needed: Send it to ${hidden}\n  to: ${hidden}`)
  expect(JSON.stringify(shown)).not.toContain(secret)
  await stop()
})
