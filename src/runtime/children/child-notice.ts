import type { ToolFailure } from '../../contracts/index.ts'
import type { EndedTurn, SpawnedChild } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { utf8Length } from '../../util/fit-text.ts'
import { cutText } from '../../util/well-formed.ts'

/** What the model of the parent reads about the end of a turn of a spawned child. */
export function childNotice(
  parent: ActiveSession,
  { name }: Pick<SpawnedChild, 'name'>,
  { turn: { ending, report }, failure }: { readonly turn: EndedTurn; readonly failure: ToolFailure | undefined },
): string {
  const text = parent.ports.redactor.text(report?.text ?? '')
  const head = `[${name}: ${ending.status}]`
  const why = failure ? `\n${parent.ports.redactor.text(failure.message)}` : ''
  return text === '' ? `${head}${why}` : `${head}${why}\n${shortReport(text, name, parent.state.agent.limits.maxOutputBytes)}`
}

/** `wait_for_agent` returns a report of any length, and stores what is too long. */
function shortReport(text: string, name: string, maxBytes: number): string {
  if (utf8Length(text) <= maxBytes) return text
  // A character has at most three bytes for each unit of its length.
  return `${cutText(text, Math.floor(maxBytes / 3))}\n(Cut. wait_for_agent with ["${name}"] returns the whole report.)`
}
