import { expect, test } from 'vitest'
import { type Confinement, defaultSandboxPolicy, type SandboxPolicy } from '../../src/contracts/index.ts'
import { type AgentOptionKey, agentOptionKeys, parseAgentFile } from '../../src/project/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { childControlNames } from '../../src/tools/index.ts'
import { serve } from '../server/support.ts'
import { endlessShell } from '../tools/shell/endless-shell.ts'
import { agentsOf, child, folder } from './folder.ts'
import { counter, play, type Say, type Scene, tool } from './stage.ts'

// Every key of an agent file, and what it does to a run. The table does not compile without one for each.

// No two calls are the same: those that repeat themselves are a matter of their own.
const again: Say = (_, step) => ({ calls: [{ tool: 'look', input: { n: step } }], usage: { input: 1000, output: 200 } })
const untilForced: Say = (request, step) => (request.toolChoice === 'none' ? { text: 'So far.' } : again(request, step))
const untilTwo: Say = (_, step) => (step === 1 ? { calls: [{ tool: 'look', input: { n: 1 } }] } : { text: 'Done.' })
const never = () => new Promise<never>(() => {})
const offered = async (scene: Scene) => (await play(scene)).requests[0]?.tools ?? []
const parameters = async (boss: string) => (await play({ boss })).requests[0]?.request.parameters
const json =
  (value: unknown): Say =>
  () => ({ text: JSON.stringify(value) })
const twoScouts: Say = (_, step) =>
  step === 1 ? { calls: ['a', 'b'].map((prompt) => ({ tool: 'agent__scout', input: { prompt } })) } : { text: 'Done.' }
const schema = '{ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] }'
const rightAtLast: Say = (_, step) => ({ text: step === 1 ? '{"town":"Oslo"}' : '{"city":"Oslo"}' })

/** What an agent with these settings lets its commands do, in a session that lets them do much. */
const noWalls: SandboxPolicy = { ...defaultSandboxPolicy, mode: 'off' }

async function policyWith(settings: string): Promise<Partial<SandboxPolicy>> {
  const policy: SandboxPolicy = {
    mode: 'required',
    hosts: ['*.example.com', 'b.test'],
    privateHosts: ['*.example.com'],
    writable: ['/srv/a', '/srv/b'],
    environment: ['A', 'B'],
    memory: 2 ** 30,
    processes: 99,
  }
  const seen: Confinement[] = []
  const look = tool('look', async (_, { confinement }) => {
    seen.push(confinement)
    return { ok: true, content: 'ok' }
  })
  const bossSays: Say = (_, step) => (step === 1 ? { calls: [{ tool: 'look' }] } : { text: 'Done.' })
  await play({ boss: `tools: look\n${settings}`, tools: [look], bossSays, sandbox: policy })
  const tightened: Partial<SandboxPolicy> = seen[0]?.kind === 'sandbox' ? (seen[0].policy ?? {}) : {}
  return Object.fromEntries(Object.entries(tightened).filter(([key, value]) => value !== policy[key as keyof SandboxPolicy]))
}
/** What is told of a command that does not end, and was given five minutes. */
async function endlessCommand(settings: string, asked: { readonly timeout?: number } = { timeout: 300 }): Promise<string | undefined> {
  const clock = new FakeClock()
  const bossSays: Say = (_, step) => (step === 1 ? { calls: [{ tool: 'shell', input: { command: 'ls', ...asked } }] } : { text: 'Done.' })
  const { requests } = await play({
    boss: `tools: shell\n${settings}`,
    tools: [endlessShell(clock)],
    bossSays,
    sandbox: defaultSandboxPolicy,
    clock,
  })
  return requests[1]?.results[0]
}
/** As a server describes it. */
async function described(settings: string): Promise<unknown> {
  const served = await serve({ agents: [parseAgentFile(`---\ndescription: x\nmodels: test/echo\n${settings}\n---\nGo.`, 'trip.ai')] })
  const { agents } = (await (await served.fetch('/v1/agents')).json()) as { readonly agents: readonly unknown[] }
  await served.close()
  return agents[0]
}
const skill = (name: string) => ({ [`.agents/skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: About ${name}\n---\nDo it.` })
async function loadable(boss: string): Promise<readonly string[]> {
  const { requests } = await play({ boss, files: { ...skill('pdf'), ...skill('git-push'), ...skill('git-log') } })
  const system = requests[0]?.request.system ?? ''
  return ['pdf', 'git-push', 'git-log'].filter((name) => system.includes(`About ${name}`))
}

const effects: { readonly [Key in AgentOptionKey]: () => Promise<void> } = {
  async description() {
    expect(await offered({ scout: 'description: Looks at maps' })).toMatchObject([
      { description: expect.stringContaining('Looks at maps') },
    ])
  },
  async usage() {
    expect(await offered({ scout: 'usage: the name of a city' })).toMatchObject([
      { description: expect.stringContaining('the name of a city') },
    ])
  },
  async examples() {
    const examples = ['A trip to Oslo', 'Which train?']
    expect(await described('examples: [A trip to Oslo, Which train?]')).toMatchObject({ name: 'trip', examples })
  },
  async toolName() {
    expect(await offered({ scout: 'toolName: research.icp' })).toMatchObject([{ name: 'agent__research__icp' }])
  },
  async models() {
    const bossSays: Say = async () => ({ fails: 'auth' })
    expect((await play({ boss: 'models: [x/one, y/two]', bossSays })).asked).toEqual(['x/one', 'y/two'])
  },
  async 'parameters.temperature'() {
    expect(await parameters('parameters: { temperature: 0.3 }')).toEqual({ temperature: 0.3 })
  },
  async 'parameters.topP'() {
    expect(await parameters('parameters: { topP: 0.4 }')).toEqual({ topP: 0.4 })
  },
  async 'parameters.maxOutputTokens'() {
    expect(await parameters('parameters: { maxOutputTokens: 123 }')).toEqual({ maxOutputTokens: 123 })
  },
  async 'parameters.reasoning'() {
    expect(await parameters('parameters: { reasoning: high }')).toEqual({ reasoning: 'high' })
  },
  async 'parameters.seed'() {
    expect(await parameters('parameters: { seed: 7 }')).toEqual({ seed: 7 })
  },
  async 'parameters.cache'() {
    expect(await parameters('parameters: { cache: false }')).toEqual({ cache: false })
  },
  async 'parameters.timeout'() {
    const { outcome, clock } = await play({ boss: 'parameters: { timeout: 5s }\nlimits: { maxRetries: 0 }', bossSays: never })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(clock.monotonic()).toBeLessThan(10_000)
  },
  async overrides() {
    // test/server shows what callers can set.
    const { outcome } = await play({ boss: 'overrides: [seed, topP]', bossSays: async () => ({ text: 'Done.' }) })
    expect(outcome.snapshot.selectedAgent.overrides).toEqual(['seed', 'topP'])
  },
  async 'input.format'() {
    const [scout] = await offered({ scout: 'input: { format: json }' })
    expect(Object.keys(scout?.inputSchema.properties ?? {})).toEqual(['reason'])
  },
  async 'input.schema'() {
    const [scout] = await offered({ scout: `input: { schema: ${schema} }` })
    expect(scout?.inputSchema).toMatchObject({ properties: { city: { type: 'string' }, reason: {} }, required: ['city', 'reason'] })
  },
  async 'input.schemaRef'() {
    const [scout] = await offered({ scout: 'input: { schemaRef: in.json }', files: { 'in.json': schema } })
    expect(scout?.inputSchema).toMatchObject({ properties: { city: { type: 'string' } } })
  },
  async 'output.format'() {
    const { outcome, requests } = await play({ boss: 'output: { format: json }', bossSays: json({ a: 1 }) })
    expect(requests[0]?.request.output).toEqual({})
    expect(outcome.report).toMatchObject({ format: 'json', value: { a: 1 } })
  },
  async 'output.schema'() {
    const { outcome, requests } = await play({ boss: `output: { schema: ${schema} }`, bossSays: rightAtLast })
    expect([requests.length, outcome.report]).toMatchObject([2, { value: { city: 'Oslo' } }])
  },
  async 'output.schemaRef'() {
    const { outcome, requests } = await play({
      boss: 'output: { schemaRef: out.yaml }',
      bossSays: rightAtLast,
      files: { 'out.yaml': schema },
    })
    expect([requests.length, outcome.report]).toMatchObject([2, { value: { city: 'Oslo' } }])
  },
  async tools() {
    const tools = [tool('look'), tool('listen'), tool('kv/get'), tool('kv/put')]
    const names = async (boss: string) => (await offered({ boss, tools })).map(({ name }) => name)
    expect(await names('tools: [look, "kv/*"]')).toEqual(['kv__get', 'kv__put', 'look'])
    expect(await names('tools: "*"')).toHaveLength(4)
    expect(await names('')).toEqual([])
  },
  async mcpServers() {
    // test/mcp shows that they are started.
    const settings = 'tools: [lab/*?]\nmcpServers: { lab: { command: ./lab } }'
    const [agent] = agentsOf(await folder({ 'a.ai': child(settings) }).load('a.ai'))
    expect(agent?.servers).toMatchObject([{ name: 'lab', definition: { command: './lab' }, isTrusted: false }])
  },
  async agents() {
    expect((await play({ scout: '' })).scoutRequests).toBe(1)
  },
  async childControl() {
    const names = async (boss: string) => (await offered({ boss, scout: '' })).map(({ name }) => name)
    expect(await names('childControl: true')).toEqual(['agent__scout', ...childControlNames.toSorted()])
    expect(await names('')).toEqual(['agent__scout'])
  },
  async clientTools() {
    // Rules can name them.
    const rules = 'approvals: { rules: [{ deny: Bash }, { ask: "mcp__*" }] }'
    expect(await described(`clientTools: [Bash, "mcp__*"]\n${rules}`)).toMatchObject({ clientTools: ['Bash', 'mcp__*'] })
  },
  async keepSessions() {
    expect(await described('keepSessions: true')).toMatchObject({ keepSessions: true })
  },
  async skills() {
    expect([await loadable(''), await loadable('skills: [pdf, "git-p*"]')]).toEqual([[], ['pdf', 'git-push']])
  },
  async disabledSkills() {
    expect(await loadable('skills: "*"\ndisabledSkills: "git-*"')).toEqual(['pdf'])
  },
  async 'approvals.rules'() {
    const look = tool('look', undefined, {
      approval: ({ n }) => ({ summary: 'Look', keys: [{ key: `look:${String(n)}`, label: 'look' }] }),
    })
    const boss = 'tools: look\napprovals: { rules: [{ deny: "look(1)", reason: Not today }] }'
    const { requests } = await play({ boss, tools: [look], bossSays: untilTwo })
    expect(requests[1]?.results[0]).toContain('Not today')
  },
  async 'sandbox.mode'() {
    let seen: Confinement | undefined
    const look = tool('look', async (_, { confinement }) => {
      seen = confinement
      return { ok: true, content: 'ok' }
    })
    await play({ boss: 'tools: look\nsandbox: { mode: required }', tools: [look], bossSays: untilTwo, sandbox: noWalls })
    expect(seen).toMatchObject({ kind: 'sandbox', policy: { mode: 'required' } })
  },
  async 'sandbox.hosts'() {
    expect(await policyWith('sandbox: { hosts: [api.example.com, evil.test] }')).toEqual({ hosts: ['api.example.com'] })
  },
  async 'sandbox.privateHosts'() {
    expect(await policyWith('sandbox: { privateHosts: [api.example.com, b.test] }')).toEqual({ privateHosts: ['api.example.com'] })
  },
  async 'sandbox.writable'() {
    expect(await policyWith('sandbox: { writable: [/srv/b, /etc] }')).toEqual({ writable: ['/srv/b'] })
  },
  async 'sandbox.environment'() {
    expect(await policyWith('sandbox: { environment: [B, KEY] }')).toEqual({ environment: ['B'] })
  },
  async 'sandbox.memory'() {
    expect(await policyWith('sandbox: { memory: 512MB }')).toEqual({ memory: 2 ** 29 })
    expect(await policyWith('sandbox: { memory: 9GB }')).toEqual({})
  },
  async 'sandbox.processes'() {
    expect(await policyWith('sandbox: { processes: 7 }')).toEqual({ processes: 7 })
  },
  async 'limits.maxToolTurns'() {
    const { requests, outcome } = await play({
      boss: 'tools: look\nlimits: { maxToolTurns: 2 }',
      tools: [tool('look')],
      bossSays: untilForced,
    })
    expect([requests.map(({ request }) => request.toolChoice), outcome.reason]).toEqual([['auto', 'auto', 'none'], 'steps'])
  },
  async 'limits.maxTokens'() {
    const boss = 'tools: look\nlimits: { maxTokens: 12000, maxToolTurns: 99 }'
    expect((await play({ boss, tools: [tool('look')], bossSays: untilForced })).outcome).toMatchObject({
      status: 'partial',
      reason: 'tokens',
    })
  },
  async 'limits.maxSessionTokens'() {
    const bossSays: Say = () => ({ text: 'Done.', usage: { input: 2000, output: 990 } })
    const secondTurn = async (limit: string) => (await play({ boss: `limits: { ${limit} }`, bossSays, turns: 2 })).outcome.status
    expect((await play({ boss: 'limits: { maxSessionTokens: 3000 }', bossSays })).outcome.status).toBe('completed')
    expect([await secondTurn('maxSessionTokens: 3000'), await secondTurn('maxTokens: 3000')]).toEqual(['failed', 'completed'])
  },
  async 'limits.maxCalls'() {
    const boss = 'tools: look\nlimits: { maxCalls: 1 }'
    expect((await play({ boss, tools: [tool('look')], bossSays: untilForced })).outcome).toMatchObject({
      status: 'partial',
      reason: 'calls',
    })
  },
  async 'limits.timeBudget'() {
    const clock = new FakeClock()
    const { work } = counter(clock)
    const slow = tool('look', async () => {
      await work()
      return { ok: true, content: 'ok' }
    })
    const boss = 'tools: look\nlimits: { timeBudget: 5s, maxToolTurns: 99 }'
    const { outcome } = await play({ boss, tools: [slow], bossSays: untilForced, clock })
    expect(outcome.reason).toBe('time')
    expect(clock.monotonic()).toBeLessThan(15_000)
  },
  async 'limits.llmTimeout'() {
    const { outcome, clock } = await play({ boss: 'limits: { llmTimeout: 5s, maxRetries: 0 }', bossSays: never })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(clock.monotonic()).toBeLessThan(10_000)
  },
  async 'limits.idleTimeout'() {
    const model: Scene['model'] = {
      async *stream(_, { signal }) {
        yield { type: 'text', text: 'Well' }
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    }
    const { outcome, clock } = await play({ boss: 'limits: { idleTimeout: 5s, maxRetries: 0 }', model })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(clock.monotonic()).toBeLessThan(10_000)
  },
  async 'limits.replyTimeout'() {
    const clock = new FakeClock()
    const model: Scene['model'] = {
      async *stream() {
        for (;;) {
          clock.advance(1_000)
          yield { type: 'text', text: 'and on ' }
        }
      },
    }
    const { outcome } = await play({ boss: 'limits: { replyTimeout: 30s, llmTimeout: 5s, maxRetries: 0 }', model, clock })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout', limit: 'replyTimeout', remedy: 'Raise replyTimeout.' } })
    expect(clock.monotonic()).toBeGreaterThanOrEqual(30_000)
    expect(clock.monotonic()).toBeLessThan(40_000)
  },
  async 'limits.toolTimeout'() {
    const bossSays: Say = (_, step) => (step === 1 ? { calls: [{ tool: 'look' }] } : { text: 'Done.' })
    const { clock, requests } = await play({ boss: 'tools: look\nlimits: { toolTimeout: 5s }', tools: [tool('look', never)], bossSays })
    expect(requests[1]?.results[0]).toMatch(/^Error \(timeout\): "look" ran for 5\.\d s and was ended because its time limit was reached/)
    expect(clock.monotonic()).toBeLessThan(30_000)
    // One that is not said leaves a tool the time that it gives itself; one that is said holds for it, too.
    expect(await endlessCommand('')).toMatch(/^Error \(timeout\): The command timed out after 300 s/)
    const cut = /^Error \(timeout\): "shell" ran for 5\.\d s.*the time limit is 5 s \(limits\.toolTimeout\)/s
    expect(await endlessCommand('limits: { toolTimeout: 5s }')).toMatch(cut)
    expect(await endlessCommand('limits: { toolTimeout: 2m }')).toContain('the time limit is 120 s')
    // Also where what is said is what holds where nothing is said.
    expect(await endlessCommand('limits: { toolTimeout: 60s }')).toContain('the time limit is 60 s')
    // It takes the place of what a command has that does not ask for a time; ten minutes are the most.
    expect(await endlessCommand('', {})).toMatch(/timed out after 120 s/)
    expect(await endlessCommand('limits: { toolTimeout: 5m }', {})).toContain('the time limit is 300 s')
    expect(await endlessCommand('limits: { toolTimeout: 20m }', {})).toMatch(/timed out after 600 s/)
  },
  async 'limits.maxRetries'() {
    const bossSays: Say = () => ({ fails: 'network' })
    expect((await play({ boss: 'limits: { maxRetries: 0 }', bossSays })).asked).toHaveLength(1)
    expect((await play({ boss: 'limits: { maxRetries: 2 }', bossSays })).asked).toHaveLength(3)
  },
  async 'limits.parallelToolCalls'() {
    const most = async (limit: string) => {
      const clock = new FakeClock()
      const count = counter(clock)
      const slow = tool('look', async () => {
        await count.work()
        return { ok: true, content: 'ok' }
      })
      const bossSays: Say = (_, step) =>
        step === 1 ? { calls: [1, 2, 3].map((n) => ({ tool: 'look', input: { n } })) } : { text: 'Done.' }
      await play({ boss: `tools: look\nlimits: { parallelToolCalls: ${limit} }`, tools: [slow], bossSays, clock })
      return count.most
    }
    expect([await most('false'), await most('2'), await most('true')]).toEqual([1, 2, 3])
  },
  async 'limits.maxOutputBytes'() {
    const long = tool('look', async () => ({ ok: true, content: 'x'.repeat(5000) }))
    const bossSays: Say = (_, step) => (step === 1 ? { calls: [{ tool: 'look' }] } : { text: 'Done.' })
    const length = async (boss: string) =>
      (await play({ boss: `tools: look\n${boss}`, tools: [long], bossSays })).requests[1]?.results[0]?.length
    expect(await length('limits: { maxOutputBytes: 600 }')).toBeLessThan(700)
    expect(await length('')).toBe(5000)
  },
  async 'limits.maxCostUsd'() {
    const boss = 'tools: look\nlimits: { maxCostUsd: 0.05, maxToolTurns: 99 }'
    const costly: Scene['model'] = {
      costOf: ({ input, output }) => (input + output) / 100_000,
      async *stream(request) {
        if (request.toolChoice === 'none') yield { type: 'text', text: 'So far.' }
        else
          yield {
            type: 'call',
            id: `c${request.messages.length}`,
            name: 'look',
            input: JSON.stringify({ n: request.messages.length, reason: 'x' }),
          }
        const usage = { input: 1000, output: 200, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
        yield { type: 'finish', reason: request.toolChoice === 'none' ? 'stop' : 'tool-calls', usage }
      },
    }
    expect(
      (await play({ boss: `${boss}\nparameters: { maxOutputTokens: 200 }`, tools: [tool('look')], model: costly })).outcome.reason,
    ).toBe('cost')
  },
  async 'limits.maxDepth'() {
    const { scoutRequests, requests } = await play({ boss: 'limits: { maxDepth: 0 }', scout: '' })
    expect(scoutRequests).toBe(0)
    expect(requests[1]?.results).toHaveLength(1)
  },
  async 'limits.maxChildren'() {
    expect((await play({ boss: 'limits: { maxChildren: 1 }', scout: '', bossSays: twoScouts })).scoutRequests).toBe(1)
    expect((await play({ scout: '', bossSays: twoScouts })).scoutRequests).toBe(2)
  },
  async 'limits.parallelChildren'() {
    const most = async (limit: number) => {
      const clock = new FakeClock()
      const count = counter(clock)
      const scoutSays: Say = async () => {
        await count.work()
        return { text: 'found' }
      }
      await play({ boss: `limits: { parallelChildren: ${limit} }`, scout: '', bossSays: twoScouts, scoutSays, clock })
      return count.most
    }
    expect([await most(1), await most(2)]).toEqual([1, 2])
  },
  async enabled() {
    expect(await offered({ scout: 'enabled: false', bossSays: () => ({ text: 'Alone.' }) })).toEqual([])
  },
  async metadata() {
    const { load } = folder({ 'a.ai': child('metadata: { owner: travel }') })
    expect((await load('a.ai')).found).toMatchObject([{ metadata: { owner: 'travel' } }])
  },
}

test('every key has an effect that is shown here', () => {
  expect(Object.keys(effects).toSorted()).toEqual(agentOptionKeys.toSorted())
})

test.each(agentOptionKeys)('%s takes effect', async (key) => {
  await effects[key]()
})
