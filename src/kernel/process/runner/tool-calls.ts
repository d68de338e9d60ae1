import type { JsonObject, Tool, ToolContext, ToolOutput, ToolPart } from '../../../contracts/index.ts'
import type { KernelPort } from './kernel-port.ts'

/** The part of a tool context that is data. */
export type CallFacts = Pick<
  ToolContext,
  'callId' | 'attempt' | 'remaining' | 'maxOutputBytes' | 'treeId' | 'sessionId' | 'agentPath' | 'agent' | 'messageId' | 'principal'
>

export interface ToolCall {
  readonly name: string
  readonly input: JsonObject
  readonly facts: CallFacts
}

/** The tools of an extension that runs in a process of its own. */
export class ProcessTools {
  readonly #kernel: KernelPort
  #tools = new Map<string, Tool>()

  constructor(kernel: KernelPort) {
    this.#kernel = kernel
  }

  /** As the kernel may know them: without functions. */
  list(tools: readonly Tool[]): unknown {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    return tools.map(({ name, description, inputSchema, timeoutMs, repeatable }) => ({
      name,
      description,
      inputSchema,
      timeoutMs,
      repeatable,
    }))
  }

  async execute({ name, input, facts }: ToolCall, signal: AbortSignal): Promise<unknown> {
    const tool = this.#tools.get(name)
    if (!tool) throw new Error(`there is no tool ${name}`)
    return sendable(await tool.execute(input, this.#context(facts, signal)))
  }

  #context(facts: CallFacts, signal: AbortSignal): ToolContext {
    const refused = { class: 'config', message: 'Tools of extensions that are not trusted cannot do this.' } as const
    return {
      ...facts,
      signal,
      overlay: {},
      confinement: { kind: 'none' },
      agents: [],
      skills: [],
      storedOutput: async () => undefined,
      startChild: async () => ({ kind: 'refused', failure: refused }),
      searchableTools: () => [],
      ask: async () => ({ kind: 'cancel' }),
      sample: async () => ({ ok: false, error: refused }),
      mayUse: () => false,
      progress: (text) => this.#kernel.notify('progress', { text }),
      output: (text) => this.#kernel.notify('output', { text }),
      updatePlan: () => {},
    }
  }
}

/** Bytes as base64. `extras` and questions stay here. */
function sendable(output: ToolOutput | string): unknown {
  if (typeof output !== 'object' || output === null || !output.parts) return output
  return { ...output, parts: output.parts.map(sendablePart) }
}

const sendablePart = (part: ToolPart): unknown => ('data' in part ? { ...part, data: Buffer.from(part.data).toString('base64') } : part)
