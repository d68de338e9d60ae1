import type { AgentResult, Clock, JsonObject, ToolContext } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { kernelEvents } from '../bus/event-names.ts'
import type { Bus, ReportDiagnostic } from '../shared/kernel-types.ts'

export interface AgentEventOptions {
  readonly bus: Pick<Bus, 'publish'>
  readonly clock: Clock
  readonly onDiagnostic: ReportDiagnostic
}

/** `call`: of the caller, if it is a session. `isTool`: the agent is what was called, once in the call. */
export interface TracedCall {
  readonly id: string
  readonly task: string
  readonly call: ToolContext | undefined
  readonly isTool?: true
  /** The agent or extension that calls. Absent if an event starts the agent. */
  readonly caller: string | undefined
  /** One for everything that follows from a message or an event. */
  readonly correlationId: string
}

const maxChars = 4_000

/** Publishes that an agent begins. Returns what publishes its end. A call that runs again after a restart publishes nothing twice. */
export async function traceAgent(
  { bus, clock, onDiagnostic }: AgentEventOptions,
  { id, task, call, isTool, caller, correlationId }: TracedCall,
): Promise<(result: AgentResult) => Promise<void>> {
  const startedAt = clock.monotonic()
  const base = { agent: id, ...(caller !== undefined && { caller }), ...(call && { sessionId: call.sessionId, callId: call.callId }) }
  const publish = (name: string, data: JsonObject): Promise<void> =>
    bus
      .publish({
        ...{ name, data: { ...base, ...data }, source: 'kernel', correlationId },
        ...(call && isTool && { id: `${name}:${call.sessionId}:${call.callId}` }),
      })
      .catch((error: unknown) =>
        onDiagnostic({ level: 'warn', source: 'kernel:agents', message: `${name} was not published: ${messageOf(error)}` }),
      )
  await publish(kernelEvents.agentInvoked, { task: task.slice(0, maxChars) })
  return async ({ status, content, error, usage }) => {
    // A restart: the call continues in the next process.
    if (call?.signal.aborted && messageOf(call.signal.reason) === 'released') return
    await publish(status === 'failed' || status === 'interrupted' ? kernelEvents.agentError : kernelEvents.agentResult, {
      status,
      content: content.slice(0, maxChars),
      durationMs: Math.round(clock.monotonic() - startedAt),
      ...(error && { error: { ...error } }),
      ...(usage && { usage: { ...usage } }),
    })
  }
}
