import type { CallPart, ToolFailure } from '../contracts/index.ts'
import type { ReviewableCall } from '../core/index.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import { parseJsonObject } from '../util/json-object.ts'
import type { ActiveSession } from './active-session.ts'
import type { OfferedTool } from './tool-registry.ts'

/** From this many times in a row on, a call is not made again. */
const mostInARow = 3

/** Why a call is not made, if it was made too often in a row: told by the history, so that it counts on after a resume. */
export function repetition(session: ActiveSession, { part }: ReviewableCall, { name, reasonField }: OfferedTool): ToolFailure | undefined {
  let times = 1
  let wanted: string | undefined
  for (const before of callsBefore(session, part)) {
    if (before.name !== part.name) break
    // As text only where the same tool is called again: most calls are of another one.
    wanted ??= meaning(part.input, reasonField)
    if (meaning(before.input, reasonField) !== wanted) break
    times++
  }
  if (times < mostInARow) return undefined
  return {
    class: 'repeated',
    message: `"${name}" was called ${times} times in a row with the same input; it was not run again.`,
    remedy: 'Use the result that you have, do something else, or answer.',
  }
}

/** What is asked for, however it is written and whatever reason is given. */
function meaning(input: string, reasonField: string): string {
  const parsed = parseJsonObject(input)
  if (!parsed) return input
  const { [reasonField]: _, ...rest } = parsed
  return canonicalJson(rest)
}

/** The calls of this turn that the model made before one of its last reply, the newest first. */
function* callsBefore({ state, turn }: ActiveSession, part: CallPart): Iterable<CallPart> {
  const messages = state.history.toArray()
  let left = turn.calls
  let isBefore = false
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role !== 'assistant') continue
    for (const each of message.parts.toReversed()) {
      if (each.type !== 'call') continue
      if (isBefore && left-- <= 0) return
      if (isBefore) yield each
      else isBefore = each.id === part.id
    }
  }
}
