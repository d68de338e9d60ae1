import { expect, it } from 'vitest'
import type { OutgoingMessage, Tool, ToolPart } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { RichChannel } from './rich-channel.ts'
import { message, stage } from './router-stage.ts'

// What tools return besides text, for the person.

const png = (size: number) => Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...Array(size).fill(1)])
const draw: Tool = {
  name: 'draw',
  description: 'Draws',
  inputSchema: { type: 'object' },
  effect: 'read',
  execute({ name, count = 1 }) {
    const parts = Array.from({ length: Number(count) }, (_, index): ToolPart => {
      const more = name === undefined ? {} : { name: `${name}${index}.png` }
      return { type: 'image', mediaType: 'image/png', data: png(index + 1), ...more }
    })
    return { ok: true, content: 'drawn', parts: [{ type: 'text', text: 'A text' }, ...parts] }
  },
}
const drawing = (input: object, text?: string) => ({ calls: [{ tool: 'draw', input }], ...(text !== undefined && { text }) })

/** `answer: Hello [a0.png 9 image/png]`, with what `read` returns. */
async function shown({ kind, text, files = [] }: OutgoingMessage): Promise<string> {
  const read = files.map(async (file) => `${file.name} ${file.bytes} ${file.mediaType} ${(await file.read()).length}`)
  return `${kind}: ${text} [${(await Promise.all(read)).join(', ')}]`
}

it('files go with the next message of the agent, once', async () => {
  const script = [drawing({ name: 'a' }, 'I draw.'), { ...drawing({}, 'Here.') }, { text: 'And the last.' }, { text: 'Nothing new.' }]
  const { router, stop } = await stage(memoryStore(), script, { tools: [draw] })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Draw'))
  await channel.until(3)
  await router.receive('chat', message('More?'))
  await channel.until(4)
  expect(await Promise.all(channel.messages.map(({ message: each }) => shown(each)))).toEqual([
    'answer: I draw. []',
    'answer: Here. [a0.png 9 image/png 9]',
    'answer: And the last. [image.png 9 image/png 9]',
    'answer: Nothing new. []',
  ])
  await stop()
})

it('the newest files are sent, if there are many', async () => {
  const { router, stop } = await stage(memoryStore(), [drawing({ name: 'p', count: 30 }), { text: 'Done.' }], { tools: [draw] })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Draw'))
  await channel.until(1)
  const names = channel.messages[0]?.message.files?.map(({ name }) => name)
  expect(names).toEqual(Array.from({ length: 20 }, (_, index) => `p${index + 10}.png`))
  await stop()
})

it('files of a turn that says nothing more have a message of their own', async () => {
  const { router, stop } = await stage(memoryStore(), [drawing({ name: 'a' }, 'Look.'), { text: 'Look.' }], { tools: [draw] })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Draw'))
  await channel.until(2)
  const texts = await Promise.all(channel.messages.map(({ message: each }) => shown(each)))
  expect(texts.join('\n')).toContain('[a0.png 9 image/png 9]')
  await stop()
})

it('a question comes with the files before it, and a restart repeats none', async () => {
  const store = memoryStore()
  const send: Tool = {
    name: 'send',
    description: 'Sends',
    inputSchema: { type: 'object' },
    effect: 'write',
    approval: () => ({ summary: 'Send the picture', keys: [] }),
    execute: () => 'sent',
  }
  const tools = [draw, send]
  const first = await stage(store, [drawing({ name: 'a' }), { calls: [{ tool: 'send' }] }], { tools })
  const channel = new RichChannel()
  first.router.register('chat', channel)
  await first.router.receive('chat', message('Draw'))
  await channel.until(1)
  expect(await shown(channel.messages[0]?.message as OutgoingMessage)).toContain('[a0.png 9 image/png 9]')
  await first.stop()
  const second = await stage(store, [{ text: 'Sent.' }], { tools })
  second.router.register('chat', channel)
  await second.router.receive('chat', message('yes'))
  await channel.until(2)
  expect(await shown(channel.messages[1]?.message as OutgoingMessage)).toBe('answer: Sent. []')
  await second.stop()
})
