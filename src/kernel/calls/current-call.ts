import { AsyncLocalStorage } from 'node:async_hooks'
import { type ToolContext, TroupeError } from '../../contracts/index.ts'
import { currentEvent } from '../bus/lane.ts'
import type { Invocation } from './invocation.ts'

/** The call of a tool or an agent that code of an extension runs in. */
interface CurrentCall {
  readonly context: ToolContext
  /** Present if `invoke` runs. */
  readonly invocation?: Invocation
  /** The extension whose code makes the call, if it is not a model. */
  readonly by?: string
  /** The code may go on after its call has ended, such as with a timer. */
  isOver: boolean
}

const storage = new AsyncLocalStorage<CurrentCall>()

/** The open call that this code runs in. */
export function currentCall(): CurrentCall | undefined {
  const call = storage.getStore()
  return call && !call.isOver ? call : undefined
}

/** The extension whose code or agent makes the current call. The orchestrator is none. */
export function callingExtension(): string | undefined {
  const { by, context } = currentCall() ?? {}
  if (by !== undefined || !context) return by
  const agent = context.agentPath.split('/').at(-1)?.replace(/#\d+$/, '')
  if (agent !== 'root') return agent
  // An agent that works on its own.
  return context.principal?.kind === 'agent' ? context.principal.name : undefined
}

/** What a call follows from: the message of a person; for an agent that works on its own, the event that has started it. */
export function correlationOf(call: ToolContext | undefined = currentCall()?.context): string | undefined {
  const isOfPerson = call !== undefined && call.principal?.kind !== 'agent'
  return (isOfPerson ? call.messageId : undefined) ?? currentEvent()?.correlationId ?? call?.messageId
}

export const outsideOfCall = (tool: string): TroupeError =>
  new TroupeError('extension_failed', `${tool} can be called inside of a call only: in \`invoke\` or in a tool`)

/** Runs code of an extension inside of a call. */
export async function insideCall<Result>(call: Omit<CurrentCall, 'isOver'>, work: () => Result): Promise<Awaited<Result>> {
  const current = { ...call, isOver: false }
  try {
    return await storage.run(current, work)
  } finally {
    current.isOver = true
  }
}
