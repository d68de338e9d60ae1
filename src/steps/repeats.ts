import type { CallPart, ToolFailure } from '../contracts/index.ts'
import type { ReviewableCall } from '../core/index.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import { parseJsonObject } from '../util/json-object.ts'
import type { ActiveSession } from './active-session.ts'
import type { OfferedTool } from './tool-registry.ts'

/** From this many times in a row on, a call is not made again. */
const mostInARow = 3

/** Why a call is not made, if it was made too often in a row: told by the history, so that it counts on after a resume. */
export function repetition(session: ActiveSession, { part }: ReviewableCall, offered: OfferedTool): ToolFailure | undefined {
  const times = offered.tool.repeatable ? 1 : timesInARow(session, part, offered.reasonField)
  if (times < mostInARow) return undefined
  return { ...repeated, message: `"${offered.name}" was called ${times} times in a row with the same input; it was not run again.` }
}

/** The same for a call that is refused anyway: who only hears the same reason again would ask for it for ever. */
export function asRepeated(
  session: ActiveSession,
  { part }: ReviewableCall,
  { failure, offered }: { readonly failure: ToolFailure; readonly offered: OfferedTool | undefined },
): ToolFailure {
  // A tool that is not there is nothing that could be repeated: the last step ends that.
  if (!offered || offered.tool.repeatable || final.includes(failure.class)) return failure
  const times = timesInARow(session, part, offered.reasonField)
  if (times < mostInARow) return failure
  return { ...repeated, message: `${failure.message} It was asked for ${times} times in a row with the same input.` }
}

const repeated = { class: 'repeated', remedy: 'Use the result that you have, do something else, or answer.' } as const
/** Refusals that already end it. */
const final: readonly ToolFailure['class'][] = ['repeated', 'budget']

function timesInARow(session: ActiveSession, part: CallPart, reasonField: string): number {
  let times = 1
  let wanted: string | undefined
  for (const before of callsBefore(session, part)) {
    if (before.name !== part.name) break
    // As text only where the same tool is called again: most calls are of another one.
    wanted ??= meaning(part.input, reasonField)
    if (meaning(before.input, reasonField) !== wanted) break
    times++
  }
  return times
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
