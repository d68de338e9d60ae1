import type { CallPart, ToolFailure } from '../../contracts/index.ts'
import { indexOfCall, type ReviewableCall } from '../../core/index.ts'
import { parseJsonObject } from '../../util/json-object.ts'
import { isSameJson } from '../../util/same-json.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import type { OfferedTool } from './tool-registry.ts'

/** From this many times in a row on, a call is not made again. */
const maxInARow = 3
/** Beyond this, how often does not matter: a reply may have thousands of them. */
const maxCounted = 10

/** Why a call is not made, if it was made too often in a row: told by the history, so that it counts on after a resume. */
export function repetitionFailure(session: ActiveSession, call: ReviewableCall, offered: OfferedTool): ToolFailure | undefined {
  const times = offered.tool.repeatable ? 1 : timesInARow(session, call, offered.reasonField)
  if (times < maxInARow) return undefined
  return {
    ...repeated,
    message: `"${offered.name}" was called ${counted(times)} times in a row with the same input; it was not run again.`,
  }
}

/** The same for a call that is refused anyway: who only hears the same reason again would ask for it for ever. */
export function asRepeatedFailure(
  session: ActiveSession,
  call: ReviewableCall,
  { failure, offered }: { readonly failure: ToolFailure; readonly offered: OfferedTool | undefined },
): ToolFailure {
  // A tool that is not there is nothing that could be repeated: the last step ends that.
  if (!offered || offered.tool.repeatable || final.includes(failure.class)) return failure
  const times = timesInARow(session, call, offered.reasonField)
  if (times < maxInARow) return failure
  return { ...repeated, message: `${failure.message} It was asked for ${counted(times)} times in a row with the same input.` }
}

const repeated = { class: 'repeated', remedy: 'Use the result that you have, do something else, or answer.' } as const
/** Refusals that already end it. */
const final: readonly ToolFailure['class'][] = ['repeated', 'budget']

/** Looks back over the calls that the model has made in this turn, up to the first that is another. */
function timesInARow({ state, turn }: ActiveSession, { itemId, part }: ReviewableCall, reasonField: string): number {
  if (turn.step.kind !== 'calling') return 1
  const { calls } = turn.step
  const most = Math.min(maxCounted, turn.calls + 1)
  let times = 1
  for (let place = indexOfCall(calls, itemId) - 1; place >= 0; place--) {
    if (times >= most || !isSameCall(calls.at(place)?.part, part, reasonField)) return times
    times++
  }
  const messages = state.history.toArray()
  let replies = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    // The last reply is the one that is looked at.
    if (message?.role !== 'assistant' || ++replies === 1) continue
    for (let at = message.parts.length - 1; at >= 0; at--) {
      const before = message.parts[at]
      if (before?.type !== 'call') continue
      if (times >= most || !isSameCall(before, part, reasonField)) return times
      times++
    }
  }
  return times
}

const counted = (times: number): string => (times < maxCounted ? `${times}` : `${times} or more`)

function isSameCall(before: CallPart | undefined, { name, input }: CallPart, reasonField: string): boolean {
  return before?.name === name && (before.input === input || isSameInput(before.input, input, reasonField))
}

/** However it is written, and whatever reason is given. */
function isSameInput(one: string, other: string, reasonField: string): boolean {
  const [a, b] = [parseJsonObject(one), parseJsonObject(other)]
  return a !== undefined && b !== undefined && isSameJson({ ...a, [reasonField]: null }, { ...b, [reasonField]: null })
}
