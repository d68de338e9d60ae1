import type { InteractionEvent } from '../../src/contracts/index.ts'

/** How the process that drives a session is stopped: as by `kill -9`, by `runtime.close()`, or by SIGTERM, which calls it. */
export type Stop = 'kill' | 'close' | 'term'

/** What was ended in a journal although nobody has interrupted anything. */
export const wrongEnds = (events: readonly InteractionEvent[]): readonly string[] =>
  events.flatMap((event) => {
    const { type, agentPath } = event
    if (/turn\.(failed|interrupted)$|cancel\.requested$|subagent\.failed$/.test(type)) return [`${type} of ${agentPath}`]
    if (event.type === 'interaction.step.failed' && event.failure.class !== 'lost') return [`a step failed: ${event.failure.message}`]
    if (event.type !== 'interaction.item.completed' || event.item.kind !== 'call') return []
    const { id, status } = event.item
    return status === 'interrupted' || status === 'skipped' ? [`${id} of ${agentPath} was ${status}`] : []
  })
