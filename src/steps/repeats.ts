import type { CallPart, ToolFailure } from '../contracts/index.ts'
import type { ReviewableCall } from '../core/index.ts'
import { placeOf } from '../util/call-list.ts'
import { parseJsonObject } from '../util/json-object.ts'
import { isSameJson } from '../util/same-json.ts'
import type { ActiveSession } from './active-session.ts'
import type { OfferedTool } from './tool-registry.ts'

/** From this many times in a row on, a call is not made again. */
const mostInARow = 3
/** Beyond this, how often does not matter: a reply may have thousands of them. */
const mostCounted = 10

/** Why a call is not made, if it was made too often in a row: told by the history, so that it counts on after a resume. */
export function repetition(session: ActiveSession, call: ReviewableCall, offered: OfferedTool): ToolFailure | undefined {
  const times = offered.tool.repeatable ? 1 : timesInARow(session, call, offered.reasonField)
  if (times < mostInARow) return undefined
  return {
    ...repeated,
    message: `"${offered.name}" was called ${counted(times)} times in a row with the same input; it was not run again.`,
  }
}

/** The same for a call that is refused anyway: who only hears the same reason again would ask for it for ever. */
export function asRepeated(
  session: ActiveSession,
  call: ReviewableCall,
  { failure, offered }: { readonly failure: ToolFailure; readonly offered: OfferedTool | undefined },
): ToolFailure {
  // A tool that is not there is nothing that could be repeated: the last step ends that.
  if (!offered || offered.tool.repeatable || final.includes(failure.class)) return failure
  const times = timesInARow(session, call, offered.reasonField)
  if (times < mostInARow) return failure
  return { ...repeated, message: `${failure.message} It was asked for ${counted(times)} times in a row with the same input.` }
}

const repeated = { class: 'repeated', remedy: 'Use the result that you have, do something else, or answer.' } as const
/** Refusals that already end it. */
const final: readonly ToolFailure['class'][] = ['repeated', 'budget']

function timesInARow(session: ActiveSession, call: ReviewableCall, reasonField: string): number {
  const { part } = call
  let times = 1
  for (const before of callsBefore(session, call)) {
    if (before.name !== part.name || !isSameInput(before.input, part.input, reasonField)) break
    times++
    if (times === mostCounted) break
  }
  return times
}

const counted = (times: number): string => (times < mostCounted ? `${times}` : `${times} or more`)

/** However it is written, and whatever reason is given. Most calls are of another tool, and never looked at like this. */
function isSameInput(one: string, other: string, reasonField: string): boolean {
  if (one === other) return true
  const [a, b] = [parseJsonObject(one), parseJsonObject(other)]
  return a !== undefined && b !== undefined && isSameJson({ ...a, [reasonField]: null }, { ...b, [reasonField]: null })
}

/** The calls of this turn that the model made before one of its last reply, the newest first. */
function* callsBefore({ state, turn }: ActiveSession, { itemId }: ReviewableCall): Iterable<CallPart> {
  if (turn.step.kind !== 'calling') return
  const { calls } = turn.step
  let left = turn.calls
  for (let place = placeOf(calls, itemId) - 1; place >= 0; place--) {
    const before = calls.at(place)
    if (!before || left-- <= 0) return
    yield before.part
  }
  const messages = state.history.toArray()
  let isEarlier = false
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role !== 'assistant') continue
    if (!isEarlier) {
      isEarlier = true
      continue
    }
    for (const each of message.parts.toReversed()) {
      if (each.type !== 'call') continue
      if (left-- <= 0) return
      yield each
    }
  }
}
