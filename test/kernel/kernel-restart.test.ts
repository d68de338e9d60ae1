import { expect, it } from 'vitest'
import type { AnyExtension, BusEvent, ExtensionContext } from '../../src/contracts/index.ts'
import { conversationSessions } from '../../src/kernel/index.ts'
import { gate } from '../../src/testing/index.ts'
import { kernelScene, requestText, type SceneOptions } from './kernel-scene.ts'

const ask = { calls: [{ tool: 'agent__worker', input: { task: 'Do it', reason: 'r' } }] }

/** Notes the events of agents, over restarts. */
const watcher = (events: BusEvent[]): AnyExtension => ({
  initialize(context) {
    for (const name of ['agent_invoked', 'agent_result', 'agent_error']) context.subscribe(name, (event) => void events.push(event))
  },
})

it('continues invoke and its child after a restart, with one event for its begin and one for its end', async () => {
  const events: BusEvent[] = []
  const invoked: string[] = []
  const waits = gate()
  let context: ExtensionContext | undefined
  const extensions: SceneOptions['extensions'] = [
    { id: 'watcher', instance: watcher(events) },
    {
      id: 'worker',
      agent: {},
      instance: {
        initialize(given) {
          context = given
        },
        async invoke(task) {
          invoked.push(task)
          const first = await context?.startAgent('First')
          const second = await context?.startAgent('Second')
          return `${first?.content} ${second?.content}`
        },
      },
    },
  ]
  // The same project.
  const kernel = { workspace: '/project' }
  const before = await kernelScene({
    extensions,
    kernel,
    models: { main: [ask], small: [{ text: 'One.' }, { text: 'Lost.', wait: waits.promise }] },
  })
  const id = await before.runtime.sessions.start('Go', { agent: 'orchestrator' })
  await expect.poll(() => before.models.small?.requests.length).toBe(2)
  await before.runtime.close()
  await before.kernel.stop()
  waits.open()

  const after = await kernelScene({
    extensions,
    kernel,
    store: before.store,
    models: { main: [{ text: 'Done.' }], small: [{ text: 'Two.' }] },
  })
  const handle = await after.runtime.open(id)
  expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  expect(invoked).toEqual(['Do it', 'Do it'])
  expect(requestText(after.models.main)).toContain('One. Two.')
  await expect.poll(() => events.map(({ name }) => name)).toEqual(['agent_invoked', 'agent_result'])
  await after.close()
})

it('hands the person over to an agent, and takes them back with /back, with one event each', async () => {
  const events: BusEvent[] = []
  const { runtime, models, close } = await kernelScene({
    extensions: [
      { id: 'watcher', instance: watcher(events) },
      { id: 'worker', agent: { integrationMode: 'handoff' } },
    ],
    models: { main: [ask, { text: 'Here I am again.' }], small: [{ text: 'Hello, I am the worker.' }, { text: 'Yes, I am.' }] },
  })
  const sessions = conversationSessions(runtime.sessions)
  const id = await sessions.start('Go', { agent: 'orchestrator' })
  expect(await sessions.outcome(id)).toMatchObject({
    status: 'suspended',
    report: { text: 'Hello, I am the worker.' },
    speaker: { agent: 'worker' },
  })
  await sessions.send(id, 'Are you there?')
  expect(await sessions.outcome(id)).toMatchObject({ report: { text: 'Yes, I am.' } })
  expect(requestText(models.small, 1)).toContain('Are you there?')
  await sessions.send(id, ' /back ')
  expect(await sessions.outcome(id)).toMatchObject({ status: 'completed', report: { text: 'Here I am again.' } })
  expect(requestText(models.main, 1)).toContain('the person asked for you')
  await expect.poll(() => events.map(({ name }) => name)).toEqual(['agent_invoked', 'agent_result'])
  await close()
})
