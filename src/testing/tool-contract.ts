import assert from 'node:assert/strict'
import type { CallId, JsonObject, SessionId, Tool, ToolContext, ToolOutput, TreeId } from '../contracts/index.ts'
import { asCases, type ContractCase } from './contract-case.ts'
import { within } from './within.ts'

export interface ToolExamples {
  /** A valid input. It is executed several times, with its effects. */
  readonly good: JsonObject
  /** An input that matches the schema and must fail. */
  readonly bad?: JsonObject
  /** Additions to the default context, such as variables. */
  readonly context?: Partial<ToolContext>
  /** How long a call may continue after its signal aborted. Default 1,000 ms. */
  readonly graceMs?: number
}

/**
 * The contract of tools.
 *
 * @example
 * for (const { name, run } of toolContract(tool, { good: { city: 'Oslo' } })) test(name, run)
 */
export function toolContract(tool: Tool, examples: ToolExamples): readonly ContractCase[] {
  const { bad, graceMs = 1000 } = examples
  const execute = async (input: JsonObject, signal: AbortSignal): Promise<ToolOutput | string> =>
    tool.execute(input, { ...plainContext, ...examples.context, signal })
  const settles = async (controller: AbortController): Promise<void> => {
    const call = execute(examples.good, controller.signal).then(ignore, ignore)
    controller.abort(new Error('aborted by the contract'))
    assert(await within(graceMs, call), `the call still runs ${graceMs} ms after its signal aborted`)
  }

  return asCases({
    'has a name that models accept': async () => assert.match(tool.name, /^[a-zA-Z0-9_-]{1,64}$/),
    'says what it is for': async () => assert.notEqual(tool.description.trim(), ''),
    async 'takes an object'() {
      assert.equal(tool.inputSchema.type, 'object')
      assert.doesNotThrow(() => JSON.stringify(tool.inputSchema), 'the schema is plain JSON')
    },
    async 'gives an output for the good example'() {
      const output = await execute(examples.good, new AbortController().signal)
      assertOutput(output)
      assert(typeof output === 'string' || output.ok, `the good example failed: ${JSON.stringify(output)}`)
    },
    'ends soon when its signal has aborted before it starts'() {
      const controller = new AbortController()
      controller.abort(new Error('aborted by the contract'))
      return settles(controller)
    },
    'ends soon when its signal aborts on the way': () => settles(new AbortController()),
    ...(bad && {
      async 'returns an expected failure instead of throwing it'() {
        const output = await execute(bad, new AbortController().signal)
        assertOutput(output)
        assert(typeof output !== 'string' && !output.ok, 'the bad example succeeded')
        assert.notEqual(output.error.message.trim(), '', 'the failure says nothing')
      },
    }),
  })
}

const plainContext: Omit<ToolContext, 'signal'> = {
  treeId: 'contract-session' as TreeId,
  sessionId: 'contract-session' as SessionId,
  agentPath: 'root',
  agent: 'contract',
  principal: undefined,
  callId: 'contract-call' as CallId,
  attempt: 1,
  overlay: {},
  remaining: { steps: 1 },
  confinement: { kind: 'none' },
  searchableTools: () => [],
  agents: [],
  mayUse: () => true,
  ask: async () => ({ kind: 'cancel' }),
  sample: async () => ({ ok: false, error: { class: 'config', message: 'There is no model here.' } }),
  startChild: async () => ({ kind: 'refused', failure: { class: 'config', message: 'There are no agents here.' } }),
  maxOutputBytes: 32_768,
  storedOutput: async () => undefined,
  skills: [],
  progress: ignore,
  output: ignore,
  updatePlan: ignore,
}

function assertOutput(output: unknown): asserts output is ToolOutput | string {
  if (typeof output === 'string') return
  assert(typeof output === 'object' && output !== null && 'ok' in output, `neither text nor an output: ${JSON.stringify(output)}`)
  if (output.ok === true) assert(typeof (output as { content?: unknown }).content === 'string', 'the content is not a string')
  else assert(typeof (output as { error?: { class?: unknown } }).error?.class === 'string', 'the failure has no class')
}

function ignore(): void {}
