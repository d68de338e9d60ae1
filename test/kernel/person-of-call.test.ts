import { expect, it, onTestFinished } from 'vitest'
import { SchedulerExtension } from '../../extensions/scheduler/main.ts'
import type { AnyExtension, ExtensionContext, Tool } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { kernelScene } from './kernel-scene.ts'

it('sends notices and tasks to the person in whose conversation they began, not to the one who wrote last', async () => {
  const sent: string[] = []
  const waiting: { readonly text: string; resolve(): void }[] = []
  const arrival = (text: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push({ text, resolve })
    return promise
  }
  const contexts = new Map<string, ExtensionContext>()
  const chat: AnyExtension = {
    initialize: (context) => void contexts.set('chat', context),
    sendToUser: (user, { kind, text }) => {
      sent.push(`${kind} to ${user}: ${text}`)
      for (const each of waiting) if (each.text === text) each.resolve()
    },
  }
  const [adaWaits, bobHasWritten] = [gate(), gate()]
  const tell: Tool = {
    name: 'tell',
    description: 'Tell the person',
    inputSchema: { type: 'object', properties: {} },
    execute: async () => {
      adaWaits.open()
      await bobHasWritten.promise
      await contexts.get('teller')?.notifyUser('It is done.')
      return 'told'
    },
  }
  const add = { tool: 'scheduler__add', input: { task: 'Wake up Ada', in_minutes: 5, time_zone: 'UTC' } }
  const scene = await kernelScene({
    extensions: [
      { id: 'chat', instance: chat },
      { id: 'scheduler', instance: new SchedulerExtension() as AnyExtension, found: { source: 'bundled' } },
      { id: 'teller', instance: { initialize: (context) => void contexts.set('teller', context), getTools: () => [tell] } },
    ],
    models: {
      main: [
        { calls: [{ tool: 'teller__tell', input: {} }] },
        { text: 'Hello, Bob.' },
        { calls: [add] },
        { text: 'Noted.' },
        { text: 'Wake up!' },
      ],
    },
  })
  onTestFinished(() => scene.close())
  const write = (userId: string) => contexts.get('chat')?.onUserMessage({ userId, text: 'Hi' })
  const [hello, noted, awake] = [arrival('Hello, Bob.'), arrival('Noted.'), arrival('Wake up!')]
  await write('ada')
  await adaWaits.promise
  scene.clock.advance(1)
  await write('bob')
  await hello
  bobHasWritten.open()
  await noted
  await scene.clock.elapse(5 * 60_000)
  await awake
  expect(sent).toEqual(['answer to bob: Hello, Bob.', 'notice to ada: It is done.', 'answer to ada: Noted.', 'answer to ada: Wake up!'])
})
