import { afterEach, expect, it } from 'vitest'
import type { AnyExtension, ExtensionContext, OutgoingMessage } from '../../src/contracts/index.ts'
import { kernelScene, requestText, type Scene } from './kernel-scene.ts'

const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})

const minute = 60_000

it('runs what extensions, manifests and people have scheduled, and delivers it to the person who wrote last', async () => {
  const contexts: { [id: string]: ExtensionContext } = {}
  const sent: Pick<OutgoingMessage, 'kind' | 'speaker' | 'text'>[] = []
  let arrived = Promise.withResolvers<void>()
  let expected = 0
  /** Runs the clock, then waits for the next messages: models and stores do not run on the clock. */
  const nextMessages = async (ms: number, count = 1): Promise<void> => {
    expected += count
    arrived = Promise.withResolvers<void>()
    await scene.clock.elapse(ms)
    if (sent.length < expected) await arrived.promise
  }
  const receive = ({ kind, speaker, text }: OutgoingMessage): void => {
    sent.push({ kind, speaker, text })
    if (sent.length >= expected) arrived.resolve()
  }
  const kept = (instance: AnyExtension): AnyExtension => ({
    ...instance,
    initialize(context) {
      contexts[context.id] = context
    },
  })
  const scene = await kernelScene({
    extensions: [
      { id: 'chat', instance: kept({ sendToUser: (_, message) => receive(message) }) },
      { id: 'monitor', instance: { getSchedule: () => '*/10 * * * *', execute: () => ({ text: 'Tea costs 3.' }) } },
      { id: 'digest', instance: {}, manifest: { schedules: [{ id: 'noon', cron: '15 0 * * *', timeZone: 'UTC', task: 'Read the news' }] } },
      { id: 'scheduler', instance: kept({}), found: { source: 'bundled' } },
      { id: 'broken', instance: { getSchedule: () => 'every day', execute: () => undefined } },
    ],
    models: { main: [{ text: 'Hello.' }, { text: 'No news.' }, { text: 'Bo is called.' }] },
  })
  scenes.push(scene)
  const { clock, models, kernel } = scene
  await contexts.chat?.onUserMessage({ userId: 'ada', text: 'Hi' })
  await nextMessages(0)
  await contexts.scheduler?.schedules.add({ task: 'Call Bo', when: { at: clock.now() + 17 * minute } })
  await nextMessages(10 * minute)
  await nextMessages(5 * minute, 2)
  await nextMessages(2 * minute)
  expect(sent).toEqual([
    { kind: 'answer', speaker: 'orchestrator', text: 'Hello.' },
    { kind: 'notice', speaker: 'monitor', text: 'Tea costs 3.' },
    { kind: 'notice', speaker: 'troupe', text: 'Task of the extension digest: Read the news' },
    { kind: 'answer', speaker: 'orchestrator', text: 'No news.' },
    { kind: 'answer', speaker: 'orchestrator', text: 'Bo is called.' },
  ])
  expect(requestText(models.main, 1)).toContain('Read the news')
  expect(requestText(models.main, 2)).toContain('Call Bo')
  expect(kernel.status().find(({ id }) => id === 'broken')?.problems[0]?.message).toContain('expected 5 or 6 fields, not "every day"')

  clock.jump(60 * minute)
  await nextMessages(6_000)
  expect(sent.at(-1)).toMatchObject({
    kind: 'notice',
    text: expect.stringMatching(/^Schedule monitor: It missed 6 runs since 2026-01-01T00:20/),
  })
})
