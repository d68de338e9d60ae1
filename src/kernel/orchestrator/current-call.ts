import { AsyncLocalStorage } from 'node:async_hooks'
import { type ToolContext, TroupeError } from '../../contracts/index.ts'
import type { Invocation } from './invocation.ts'

/** The call of a tool or an agent that code of an extension runs in. */
export interface CurrentCall {
  readonly context: ToolContext
  /** Of `invoke`, if that is what runs. */
  readonly invocation?: Invocation
  /** The code may go on after its call has ended, such as with a timer. */
  isOver: boolean
}

const storage = new AsyncLocalStorage<CurrentCall>()

/** The open call that this code runs in. */
export function currentCall(): CurrentCall | undefined {
  const call = storage.getStore()
  return call && !call.isOver ? call : undefined
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
