import type { InteractionEvent, Model, ModelRequest, Outcome, SandboxPolicy, Tool, ToolSpec } from '../../src/contracts/index.ts'
import { agentSkills } from '../../src/project/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, sequentialIds } from '../../src/testing/index.ts'
import { findSkills } from '../../src/tools/skills/index.ts'
import { settle } from '../settle.ts'
import { type Said, scripted } from '../subagents/team.ts'
import { agentsOf, folder } from './folder.ts'

// A fake clock must not run on while a library is being loaded for the first time.
await import('../../src/tools/builtin/index.ts')

export type Say = (request: ModelRequest, step: number) => Said | Promise<Said>

export interface Scene {
  /** Settings of the agent that speaks, and of the one that it calls. */
  readonly boss?: string
  readonly scout?: string
  readonly files?: { readonly [name: string]: string }
  readonly bossSays?: Say
  readonly scoutSays?: Say
  readonly tools?: readonly Tool[]
  readonly model?: Partial<Model>
  /** The sandbox policy of the session. */
  readonly sandbox?: SandboxPolicy
  readonly clock?: FakeClock
  /** How often it is asked, turn by turn; the outcome is that of the last one. Default 1. */
  readonly turns?: number
}

export interface Shown {
  readonly outcome: Outcome
  readonly events: readonly InteractionEvent[]
  /** Whom the boss's model was asked as, request by request. */
  readonly asked: readonly string[]
  readonly requests: readonly { readonly tools: readonly ToolSpec[]; readonly request: ModelRequest; readonly results: readonly string[] }[]
  readonly scoutRequests: number
  readonly clock: FakeClock
}

const callScout = { calls: [{ tool: 'agent__scout', input: { prompt: 'Look' } }] }

/** Plays agents out of files: the boss of `boss.ai`, and `scout.ai` where it has settings. */
export async function play(scene: Scene): Promise<Shown> {
  const { boss = '', scout, files = {}, tools = [], clock = new FakeClock() } = scene
  const calls = scout === undefined ? '' : 'agents: [./scout.ai]\n'
  const project = folder({
    'boss.ai': `---\n${withDefaults(boss, { description: 'The boss', models: 'a/boss' })}${calls}---\nBOSS\n`,
    ...(scout !== undefined && {
      'scout.ai': `---\n${withDefaults(scout, { description: 'The scout', usage: 'x', models: 'a/scout', output: '{ format: text }' })}---\nSCOUT\n`,
    }),
    ...files,
  })
  const agents = agentsOf(await project.load('boss.ai', { tools: tools.map(({ name }) => name) }))
  const found = findSkills({ workingDirectory: project.path, projectRoot: project.path })
  const definitions = agents.map((agent) => ({
    ...agent.definition,

    skills: agentSkills(agent, found).skills.map(({ name }) => name),
  }))
  const asked: string[] = []
  const requests: { tools: readonly ToolSpec[]; request: ModelRequest; results: readonly string[] }[] = []
  let scoutRequests = 0
  const {
    bossSays = (_, step) => (step === 1 && scout !== undefined ? callScout : { text: 'Done.' }),
    scoutSays = () => ({ text: 'found' }),
  } = scene
  const runtime = createAgentRuntime({
    config: { agents: definitions, agentSelection: { agent: 'boss' }, tools, skills: found.skills },
    ...(scene.sandbox && { sandbox: { confinement: { kind: 'sandbox', name: 'of the test', policy: scene.sandbox } } }),
    adapter: {
      resolve: (name) =>
        scripted(
          name,
          (request, step) => {
            if (request.system.startsWith('SCOUT')) {
              scoutRequests++
              return scoutSays(request, step)
            }
            asked.push(name)
            const results = request.messages.flatMap((message) =>
              message.role === 'tool' ? message.results.map(({ content }) => content) : [],
            )
            requests.push({ tools: request.tools, request: { ...request, messages: [...request.messages] }, results })
            return bossSays(request, step)
          },
          scene.model,
        ),
    },
    store: memoryStore(),
    ids: sequentialIds(),
    clock,
  })
  const events: InteractionEvent[] = []
  const handle = runtime.stream('Go')
  const reading = (async () => {
    for await (const event of handle) if ('seq' in event) events.push(event)
    return handle.outcome
  })()
  let outcome = await settle(reading, clock)
  for (let turn = 2; turn <= (scene.turns ?? 1); turn++) {
    await runtime.sessions.send(handle.sessionId, 'Go on')
    outcome = await settle(runtime.sessions.outcome(handle.sessionId), clock)
  }
  await runtime.close()
  return { outcome, events, asked, requests, scoutRequests, clock }
}

/** A setting that the scene writes itself is not written twice. */
function withDefaults(settings: string, defaults: { readonly [key: string]: string }): string {
  const missing = Object.entries(defaults).filter(([key]) => !new RegExp(`^${key}:`, 'm').test(settings))
  return `${missing.map(([key, value]) => `${key}: ${value}\n`).join('')}${settings}${settings === '' ? '' : '\n'}`
}

export function tool(name: string, execute: Tool['execute'] = async () => ({ ok: true, content: 'ok' }), more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `${name} of the test`,
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    concurrency: 'shared',
    execute,
    ...more,
  }
}

/** Counts how many are at work at once; each waits for a second of the clock. */
export function counter(clock: FakeClock): { readonly most: number; work(): Promise<void> } {
  let now = 0
  let most = 0
  return {
    get most() {
      return most
    },
    work: () =>
      new Promise((resolve) => {
        most = Math.max(most, ++now)
        clock.after(1_000, () => {
          now--
          resolve()
        })
      }),
  }
}
