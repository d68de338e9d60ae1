import type { InteractionEvent, ParentCall, StreamEvent } from '../contracts/index.ts'
import { type AgentNode, type CallNode, markChanged, type RunTree, type SessionNodes } from './nodes.ts'

/** Models see an agent as the tool `agent__desk__report`, because tool names have no dots. */
const agentPrefix = 'agent__'
export const isAgentTool = (tool: string): boolean => tool.startsWith(agentPrefix)

/** The name of a call for people, until the agent itself says how its name is written. */
export const callName = (tool: string, isAgent: boolean): string =>
  isAgent && isAgentTool(tool) ? tool.slice(agentPrefix.length).replaceAll('__', '.') : tool

/** Adds a session that is new to the tree: below the call that started it, or as a root where that call is unknown. */
export function joinSession(tree: RunTree, event: StreamEvent): SessionNodes {
  const { agentPath: path, sessionId } = event
  const started = event.type === 'interaction.session.created' ? event : undefined
  const parent = started?.parent && tree.sessions.get(started.parent.sessionId)
  const agent: AgentNode = {
    id: sessionId,
    path,
    name: path,
    label: started?.parent ? labelOf(started, parent) : '',
    maxSteps: 0,
    maxRetries: 0,
    parallelCalls: Number.POSITIVE_INFINITY,
    notes: [],
    turns: [],
    failed: 0,
    messages: [],
    history: [],
    ...(started?.forkedFrom && { forkedFrom: started.forkedFrom.sessionId }),
  }
  const session: SessionNodes = { tree, agent, parent, steps: new Map(), calls: new Map(), requests: new Map(), hooks: new Map() }
  tree.sessions.set(sessionId, session)
  const call = started?.parent && callOf(tree, started.parent)
  if (!call) tree.roots.push(agent)
  else {
    if (call.child) call.earlier = [...(call.earlier ?? []), call.child]
    // It may have waited in a queue until now.
    else if (started) call.span = { from: started.at, to: started.at }
    call.child = agent
    if (started && isAgentTool(call.tool)) call.name = started.agent.toolName
    markChanged(session, call)
  }
  markChanged(session, agent)
  return session
}

function labelOf({ agent, agentPath }: InteractionEvent<'interaction.session.created'>, parent: SessionNodes | undefined): string {
  const label = parent?.agent.label
  const [, number = '1'] = /#(\d+)$/.exec(agentPath) ?? []
  return `${label ? `${label}/` : 'child:'}${agent.toolName}${number === '1' ? '' : `#${number}`}`
}

const callOf = (tree: RunTree, { sessionId, itemId }: ParentCall): CallNode | undefined => tree.sessions.get(sessionId)?.calls.get(itemId)
