import type { CallPart, ToolFailure } from '../../contracts/index.ts'
import { indexOfCall, type ReviewableCall } from '../../core/index.ts'
import { isSameJson, parseJsonObject } from '../../util/json-values.ts'
import type { ActiveSession } from '../session/active-session.ts'
import type { OfferedTool } from '../tools/tool-registry.ts'

/** The same call this many times in a row is refused. */
const maxInARow = 3
/** Counting stops here: a reply may have thousands of calls. */
const maxCounted = 10

/** The failure of a call that was made too often in a row. Counted from the history, so that a resume changes nothing. */
export function repetitionFailure(session: ActiveSession, call: ReviewableCall, offered: OfferedTool): ToolFailure | undefined {
  const times = offered.tool.repeatable ? 1 : timesInARow(session, call, offered.reasonField)
  if (times < maxInARow) return undefined
  return {
    ...repeated,
    message: `"${offered.name}" was called ${counted(times)} times in a row with the same arguments. It was not run again.`,
  }
}

/** The same for a call that is refused for another reason: a model that reads the same reason again may repeat it forever. */
export function asRepeatedFailure(
  session: ActiveSession,
  call: ReviewableCall,
  { failure, offered }: { readonly failure: ToolFailure; readonly offered: OfferedTool | undefined },
): ToolFailure {
  // Calls of unknown tools are not counted: the step limit ends them.
  if (!offered || offered.tool.repeatable || final.includes(failure.class)) return failure
  const times = timesInARow(session, call, offered.reasonField)
  if (times < maxInARow) return failure
  return { ...repeated, message: `${failure.message} You made this call ${counted(times)} times in a row with the same arguments.` }
}

const repeated = { class: 'repeated', remedy: 'Use the result you have, try something else, or answer.' } as const
/** Refusals that already lead to a last step. */
const final: readonly ToolFailure['class'][] = ['repeated', 'budget']

/** Counts equal calls backwards through this turn, up to the first different one. */
function timesInARow({ state, turn }: ActiveSession, { itemId, part }: ReviewableCall, reasonField: string): number {
  if (turn.step.kind !== 'calling') return 1
  const { calls } = turn.step
  const max = Math.min(maxCounted, turn.calls + 1)
  let times = 1
  for (let place = indexOfCall(calls, itemId) - 1; place >= 0; place--) {
    if (times >= max || !isSameCall(calls.at(place)?.part, part, reasonField)) return times
    times++
  }
  const messages = state.history.toArray()
  let replies = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    // The last reply is the current one.
    if (message?.role !== 'assistant' || ++replies === 1) continue
    for (let at = message.parts.length - 1; at >= 0; at--) {
      const before = message.parts[at]
      if (before?.type !== 'call') continue
      if (times >= max || !isSameCall(before, part, reasonField)) return times
      times++
    }
  }
  return times
}

const counted = (times: number): string => (times < maxCounted ? `${times}` : `${times} or more`)

function isSameCall(before: CallPart | undefined, { name, input }: CallPart, reasonField: string): boolean {
  return before?.name === name && (before.input === input || isSameInput(before.input, input, reasonField))
}

/** Ignores formatting and the reason. */
function isSameInput(one: string, other: string, reasonField: string): boolean {
  const [a, b] = [parseJsonObject(one), parseJsonObject(other)]
  return a !== undefined && b !== undefined && isSameJson({ ...a, [reasonField]: null }, { ...b, [reasonField]: null })
}
