import {
  type AgentSpec,
  type ChildTask,
  type ClientId,
  type Diagnostic,
  type InteractionEvent,
  type ItemId,
  TroupeError,
} from '../../contracts/index.ts'
import { created, type Pen } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { ResolvedConfig } from '../api/resolve-config.ts'
import type { EffectiveAgent } from '../tree/session-setup.ts'
import type { Sessions } from '../tree/sessions.ts'
import type { Branch } from './open-session.ts'

interface Birth {
  readonly itemId: ItemId
  readonly agent: AgentSpec
  readonly effective: EffectiveAgent
  /** Told to the first of several who have the same to hear. */
  readonly notices: readonly Diagnostic[]
  readonly context: ResolvedConfig['context']
  readonly input: ChildTask['input']
}

/** The session, its input and the note of it to the parent are one batch: a crash leaves all of them or none. */
export function bear(
  { sessionId: childId, above }: Branch,
  birth: Birth,
  { pen, sessions }: { pen: Pen; sessions: Sessions },
): ActiveSession {
  const parent = above?.session
  if (!above || !parent) throw new TroupeError('internal', `The child ${childId} has no parent.`)
  const { itemId, agent, effective, notices, context, input } = birth
  const { state, turn } = parent
  const number = above.nextNumber(agent.name)
  const agentPath = `${state.agentPath}/${agent.name}#${number}`
  const first: InteractionEvent<'interaction.session.created'> = {
    type: 'interaction.session.created',
    seq: pen.nextSeq,
    treeId: state.treeId,
    sessionId: childId,
    agentPath,
    at: pen.now,
    agent,
    trace: {
      originId: state.trace.originId,
      parentId: state.sessionId,
      callPath: `${state.trace.callPath}/${agent.name}`,
      turnPath: state.trace.turnPath === '' ? turn.id : `${state.trace.turnPath}/${turn.id}`,
    },
    parent: { sessionId: state.sessionId, turnId: turn.id, itemId },
    ...effective,
  }
  pen.push(first)
  const session = sessions.session(created(first))
  if (number === 1) for (const diagnostic of notices) session.note({ type: 'interaction.diagnostic', diagnostic })
  for (const text of context) session.note({ type: 'interaction.context.added', ...text })
  session.note({ type: 'interaction.input.accepted', clientId: `${childId}.input` as ClientId, parts: input, mode: 'queue' })
  parent.note({ type: 'interaction.subagent.started', itemId, childId, agent: agent.name, childPath: agentPath })
  return session
}
