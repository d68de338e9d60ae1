// Runs agents of extensions: for callers as the tool `agent__ID`, for extensions as `startAgent` and `invokeAgent`.
//
// 1. Inside of a call an agent is a child of that call. Elsewhere it has a session of its own.
// 2. A call publishes `agent_invoked` once, and `agent_result` or `agent_error` once, also if a restart interrupts it.
// 3. A failure of an agent is a result. Nothing here throws.
import type {
  AgentLimits,
  AgentResult,
  ApprovalRequest,
  BusEvent,
  Ids,
  InputPart,
  JsonObject,
  SessionService,
  StartAgentOptions,
  StartOptions,
  Tool,
  ToolContext,
  ToolOutput,
} from '../../contracts/index.ts'
import { agentToolName, childTraits } from '../../tools/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { agentInputSchema, taskText } from '../calls/agent-input.ts'
import { checkedResult, childAgentResult, failedResult, outcomeAgentResult, toolOutputOf } from '../calls/agent-results.ts'
import { correlationOf, currentCall, insideCall } from '../calls/current-call.ts'
import { Invocation } from '../calls/invocation.ts'
import type { AgentPort, InvokedTask, LoadedExtension, Notice, SupervisorPort } from '../shared/kernel-types.ts'
import { type AgentEventOptions, type TracedCall, traceAgent } from './agent-events.ts'

interface ExtensionAgentsOptions extends AgentEventOptions {
  readonly supervisor: Pick<SupervisorPort, 'enter'>
  readonly ids: Ids
  find(id: string): LoadedExtension | undefined
  notify(notice: Notice): Promise<void>
}

interface Task {
  readonly task: string
  readonly context?: JsonObject | undefined
}

interface AgentCall extends Task, Omit<TracedCall, 'correlationId'> {
  /** For an agent with a session of its own: the same id again is the same session. `started`: it is durable. */
  readonly event?: { readonly id: string; started(): void }
}

interface OwnSession {
  readonly event?: AgentCall['event'] | undefined
  readonly signal?: AbortSignal | undefined
  readonly changes?: Pick<StartOptions, 'instructions' | 'output'>
}

export class ExtensionAgents implements AgentPort {
  readonly #options: ExtensionAgentsOptions
  /** Set once there is a runtime. */
  sessions: SessionService | undefined
  readonly #unseen = new Set<string>()

  constructor(options: ExtensionAgentsOptions) {
    this.#options = options
  }

  async start(id: string, task: string, { context, signal, instructions, output }: StartAgentOptions): Promise<AgentResult> {
    const changes = {
      ...(instructions !== undefined && { instructions }),
      ...(output && { output: { format: 'json', schema: output as JsonObject } as const }),
    }
    const input = [{ type: 'text', text: taskText(task, context) }] as const
    const call = currentCall()
    if (!call) return this.#ownSession(id, input, { signal, changes })
    const child = (limits?: Partial<AgentLimits>) =>
      call.context.startChild({ agent: id, input, ...changes, ...(limits && { limits }) }, signal)
    return childAgentResult(await (call.invocation ? call.invocation.child(child) : child()), id)
  }

  invoke(id: string, { caller, task, context }: InvokedTask): Promise<AgentResult> {
    return this.#traced({ id, task, context, caller, call: currentCall()?.context })
  }

  /** Starts the agent because of an event. Resolves once that is durable, or it runs code of the extension. Its end is an event, too. */
  onEvent(id: string, { name, data, id: eventId }: BusEvent): Promise<void> {
    return new Promise((resolve) => {
      const context = { event: name, id: eventId, data }
      const event = { id: eventId, started: resolve }
      const call = { id, task: `The event ${name} has happened.`, context, caller: undefined, call: undefined, event }
      void this.#traced(call).then(() => resolve())
    })
  }

  /** The tool for callers. `handoff`: how a person talks to the agent, for agents with that mode. */
  toolOf(extension: LoadedExtension, handoff?: Tool): Tool {
    const { id } = extension.found
    const callOf = (input: JsonObject, call: ToolContext): AgentCall => ({
      ...(input as unknown as Task),
      ...{ id, call, caller: call.agent, isTool: true },
    })
    return {
      ...childTraits,
      view: () => ({ type: 'subagent_call', details: { agent: id } }),
      ...handoff,
      name: agentToolName({ toolName: id }),
      description: agentDescription(extension),
      inputSchema: agentInputSchema,
      execute: handoff
        ? (input, context) => this.#tracedHandoff(callOf(input, context), () => handoff.execute(input, context))
        : async (input, context) => toolOutputOf(await this.#traced(callOf(input, context))),
    }
  }

  /** Through `invoke`, if the extension has it. */
  async #run({ id, task, context, call, event, correlationId }: AgentCall & TracedCall): Promise<AgentResult> {
    const extension = this.#options.find(id)
    const { agent } = extension?.found.manifest ?? {}
    if (!extension || !agent || extension.state !== 'running')
      return failedResult({ class: 'config', message: `The agent ${id} is not running.`, remedy: 'See list_extensions for the reason.' })
    if (!extension.instance.invoke) {
      const input = [{ type: 'text', text: taskText(task, context) }] as const
      return call ? childAgentResult(await call.startChild({ agent: id, input }), id) : this.#ownSession(id, input, { event })
    }
    event?.started()
    const invocation = new Invocation(agent.limits, this.#options.clock, call?.signal)
    const given = {
      signal: invocation.signal,
      person: call?.principal,
      correlationId,
      progress: (text: string) => call?.progress(text),
    }
    const work = async () => extension.instance.invoke?.(task, context, given)
    const entered = () => (extension.runs === 'kernel' ? this.#options.supervisor.enter(id, 'invoke', work) : work())
    const result = await invocation.within(async () => {
      try {
        return checkedResult(await (call ? insideCall({ context: call, invocation }, entered) : entered()))
      } catch (error) {
        return failedResult({ class: 'failed', message: `invoke failed: ${messageOf(error)}` })
      }
    })
    if (call && !invocation.hasStarted) this.#reportUnseen(id)
    return result
  }

  async #ownSession(id: string, input: readonly InputPart[], { signal, changes, event }: OwnSession): Promise<AgentResult> {
    const { sessions } = this
    if (!sessions) return failedResult({ class: 'config', message: 'Agents can be started once everything has started.' })
    try {
      const sessionId = await sessions.start(input, {
        agent: id,
        principal: { id: `agent:${id}`, kind: 'agent', name: id },
        labels: [`extension:${id}`],
        ...changes,
        ...(event && { clientId: event.id }),
      })
      event?.started()
      const cancel = (): void => void sessions.cancel(sessionId, 'interrupt', id).catch(() => {})
      if (signal?.aborted) cancel()
      signal?.addEventListener('abort', cancel)
      const outcome = await sessions.outcome(sessionId).finally(() => signal?.removeEventListener('abort', cancel))
      if (outcome.status === 'suspended') await this.#tellRequest(id, sessionId, await sessions.requests(sessionId))
      return outcomeAgentResult(outcome, id)
    } catch (error) {
      return failedResult({ class: 'failed', message: messageOf(error) })
    }
  }

  /** It works on its own, so nobody sees its requests. The same one again is not told again. */
  async #tellRequest(id: string, sessionId: string, [request]: readonly ApprovalRequest[]): Promise<void> {
    if (!request) return
    const text = `${id} works on its own and needs your approval: ${request.summary}. To allow it in this project from now on: troupe approvals answer ${sessionId} p`
    await this.#options.notify({ id: `approval:${id}:${request.keys[0]?.key ?? request.summary}`, text, speaker: id })
  }

  async #traced(call: AgentCall): Promise<AgentResult> {
    const traced = this.#withCorrelation(call)
    const end = await traceAgent(this.#options, traced)
    const result = await this.#run(traced)
    await end(result)
    return result
  }

  async #tracedHandoff(call: AgentCall, work: () => ReturnType<Tool['execute']>): Promise<ToolOutput | string> {
    const end = await traceAgent(this.#options, this.#withCorrelation(call))
    const output = await work()
    const content = typeof output === 'string' ? output : output.ok ? output.content : (output.partial ?? '')
    await end(typeof output === 'string' || output.ok ? { status: 'completed', content } : { ...failedResult(output.error), content })
    return output
  }

  #withCorrelation(call: AgentCall): AgentCall & TracedCall {
    return { ...call, correlationId: correlationOf(call.call) ?? this.#options.ids.next() }
  }

  #reportUnseen(id: string): void {
    if (this.#unseen.has(id)) return
    this.#unseen.add(id)
    const message = `${id}: \`invoke\` did not use startAgent, so its steps and tokens cannot be seen. Only time_budget_ms applies.`
    this.#options.onDiagnostic({ level: 'info', source: id, message })
  }
}

/** For the agents that may call it. */
export const agentDescription = ({ found, descriptor }: LoadedExtension): string =>
  (descriptor?.description ?? found.manifest?.description ?? found.id).trim()
