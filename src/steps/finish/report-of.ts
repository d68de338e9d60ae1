import type { AgentSpec, Report } from '../../contracts/index.ts'
import type { OpenTurn } from '../../core/index.ts'

/** The answer so far. */
export function reportOf({ lastText, step }: OpenTurn, { output }: AgentSpec): Report | undefined {
  if (step.kind === 'answered' && step.output?.ok) {
    const { value } = step.output
    return { format: 'json', text: JSON.stringify(value), value }
  }
  return lastText === '' ? undefined : { format: output.format === 'json' ? 'text' : output.format, text: lastText }
}
