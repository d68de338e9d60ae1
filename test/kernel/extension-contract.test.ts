// What code of extensions inside the kernel returns and calls.
import { afterEach, expect, it } from 'vitest'
import type { ExtensionContext, Tool } from '../../src/contracts/index.ts'
import { kernelScene, requestText, type Scene, type SceneOptions } from './kernel-scene.ts'

let open: Scene | undefined
afterEach(() => open?.close())
const scene = async (options: SceneOptions): Promise<Scene> => {
  open = await kernelScene(options)
  return open
}
const call = (name: string, input: object) => ({ calls: [{ tool: name, input: { ...input, reason: 'r' } }] })

it.each([
  ['a description that is no text', { name: 'A', description: 5, integrationMode: 'tool' }],
  ['no integration mode', { name: 'A', description: 'Does' }],
])('a descriptor with %s fails its extension, and nothing else', async (_, descriptor) => {
  const { ask, kernel } = await scene({
    extensions: [
      { id: 'bad', agent: {}, instance: { getAgentDescriptor: () => descriptor as never, invoke: () => '' } },
      { id: 'good', agent: {}, instance: { invoke: () => 'Well' } },
    ],
    models: { main: [call('agent__good', { task: 'x' }), { text: 'Done.' }], small: [] },
  })
  expect(await ask('Go')).toMatchObject({ status: 'completed' })
  expect(kernel.status().map(({ id, state }) => `${id} ${state}`)).toEqual(['bad failed', 'good running'])
  expect(kernel.status()[0]?.problems[0]?.message).toContain('getAgentDescriptor')
})

it('the name of the descriptor is the name that people see', async () => {
  const getAgentDescriptor = () => ({ name: 'Reviewer', description: 'Reviews', integrationMode: 'tool' }) as const
  const { kernel } = await scene({
    extensions: [{ id: 'reviewer', agent: {}, instance: { getAgentDescriptor, invoke: () => '' } }],
    models: { main: [], small: [] },
  })
  const { config } = await kernel.config({ config: { agents: [] }, served: [], resolveModel: () => undefined })
  expect(config.agents).toMatchObject([{ name: 'reviewer', displayName: 'Reviewer', description: 'Reviews' }])
})

it('events do not start the agent of an extension that is disabled', async () => {
  let context: ExtensionContext | undefined
  const seen: string[] = []
  const { clock } = await scene({
    extensions: [
      {
        id: 'source',
        instance: {
          initialize(given) {
            context = given
            for (const name of ['mail_arrived', 'agent_invoked', 'agent_error']) given.subscribe(name, () => void seen.push(name))
          },
        },
      },
      { id: 'agent', agent: {}, manifest: { events: ['mail_arrived'], enabled: false } },
    ],
    models: { main: [], small: [] },
  })
  await context?.publish('mail_arrived', {})
  await clock.elapse(5_000)
  expect(seen).toEqual(['mail_arrived'])
})

it('tools of `uses_tools` run in the call of `invoke`, and nowhere else', async () => {
  let context: ExtensionContext | undefined
  const session: Tool = {
    name: 'session',
    description: 'Names the session',
    inputSchema: { type: 'object' },
    execute: (_, { sessionId }) => `in ${sessionId}`,
  }
  const { ask, models } = await scene({
    extensions: [
      { id: 'tools', instance: { getTools: () => [session] } },
      {
        id: 'agent',
        agent: { usesTools: ['tools'] },
        instance: {
          initialize(given) {
            context = given
          },
          invoke: async () => String(await context?.resolvedTools[0]?.execute({})),
        },
      },
    ],
    models: { main: [call('agent__agent', { task: 'x' }), { text: 'Done.' }], small: [] },
  })
  const { sessionId } = await ask('Go')
  expect(requestText(models.main, 1)).toContain(`in ${sessionId}`)
  expect(() => context?.resolvedTools[0]?.execute({})).toThrow('inside of a call')
})

it('an invocation outside of a conversation has a correlation id of its own, which is that of its events', async () => {
  let context: ExtensionContext | undefined
  const [invoked, published]: [string[], string[]] = [[], []]
  const { clock } = await scene({
    extensions: [
      { id: 'helper', agent: {}, instance: { invoke: (_task, _context, { correlationId }) => `${invoked.push(correlationId)} done` } },
      {
        id: 'caller',
        manifest: { dependsOn: ['helper'] },
        instance: {
          initialize(given) {
            context = given
            given.subscribe('agent_result', ({ correlationId }) => void published.push(correlationId))
          },
        },
      },
    ],
    models: { main: [], small: [] },
  })
  await context?.invokeAgent('helper', 'one')
  await context?.invokeAgent('helper', 'two')
  await clock.elapse(2_000)
  expect(published).toEqual(invoked)
  expect(new Set(invoked).size).toBe(2)
})
