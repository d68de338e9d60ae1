import type { ToolFailure } from '../../contracts/index.ts'
import type { ActiveSession } from '../session/active-session.ts'
import type { Arguments } from '../tools/call-arguments.ts'
import type { CallLimit } from '../tools/call-limit.ts'
import type { OfferedTool } from '../tools/tool-registry.ts'
import { outOfTime, waitForTool } from './ask-tool.ts'

/** Awaits a check of arguments by the schema of a program. `undefined`: the turn was stopped meanwhile, and the loop skips the call. */
export async function checkedInTime(
  session: ActiveSession,
  { tool, name }: OfferedTool,
  checking: Promise<Arguments>,
): Promise<Arguments | undefined> {
  const found = await waitForTool(session, tool, checking)
  if (found.kind === 'answered') return found.answer
  return found.kind === 'ended' ? undefined : { ok: false, failure: lateFailure(name, found.limit) }
}

function lateFailure(name: string, { ms, by }: CallLimit): ToolFailure {
  if (by === 'budget') return outOfTime('its arguments were checked')
  const message = `The call was not run: the schema of "${name}" did not check the arguments within ${ms / 1000} s.`
  return { class: 'timeout', message, remedy: 'Continue without it.' }
}
