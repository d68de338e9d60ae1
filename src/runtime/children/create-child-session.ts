import {
  type AgentSpec,
  type ChildTask,
  type ClientId,
  type Diagnostic,
  type InteractionEvent,
  type ItemId,
  TroupeError,
} from '../../contracts/index.ts'
import { createSessionState, type EventWriter } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { ResolvedConfig } from '../api/resolve-config.ts'
import type { EffectiveAgent } from '../tree/session-setup.ts'
import type { SessionFactory } from '../tree/tree.ts'
import type { OpenSession } from './open-sessions.ts'

interface ChildSetup {
  readonly itemId: ItemId
  readonly agent: AgentSpec
  readonly effective: EffectiveAgent
  /** Recorded for the first child of each agent only. */
  readonly notices: readonly Diagnostic[]
  readonly context: ResolvedConfig['context']
  readonly input: ChildTask['input']
}

/** Creates the session, records its input, and notes it in the parent, in one batch: a crash leaves all of that or nothing. */
export function createChildSession(
  { sessionId: childId, parent }: OpenSession,
  setup: ChildSetup,
  { writer, sessions }: { writer: EventWriter; sessions: SessionFactory },
): ActiveSession {
  const parentSession = parent?.session
  if (!parent || !parentSession) throw new TroupeError('internal', `The child ${childId} has no parent.`)
  const { itemId, agent, effective, notices, context, input } = setup
  const { state, turn } = parentSession
  const number = parent.nextNumber(agent.name)
  const agentPath = `${state.agentPath}/${agent.name}#${number}`
  const first: InteractionEvent<'interaction.session.created'> = {
    type: 'interaction.session.created',
    seq: writer.nextSeq,
    treeId: state.treeId,
    sessionId: childId,
    agentPath,
    at: writer.now,
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
  writer.push(first)
  const session = sessions.createSession(createSessionState(first))
  if (number === 1) for (const diagnostic of notices) session.note({ type: 'interaction.diagnostic', diagnostic })
  for (const text of context) session.note({ type: 'interaction.context.added', ...text })
  session.note({ type: 'interaction.input.accepted', clientId: `${childId}.input` as ClientId, parts: input, mode: 'queue' })
  parentSession.note({ type: 'interaction.subagent.started', itemId, childId, agent: agent.name, childPath: agentPath })
  return session
}
