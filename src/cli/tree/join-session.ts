import type { InteractionEvent, ParentCall, StreamEvent } from '../../contracts/index.ts'
import { printable } from '../paint.ts'
import type { AgentNode, CallNode, RunTree, SessionNodes } from './nodes.ts'

/** An agent is offered to models as `agent__desk__report`, since their tools have no dots; others hand tasks on. */
const agentPrefix = 'agent__'
export const isOffered = (tool: string): boolean => tool.startsWith(agentPrefix)

/** What people know a call by, as long as nobody has said how the dots of an agent were written. */
export const callName = (tool: string, isAgent: boolean): string =>
  printable(isAgent && isOffered(tool) ? tool.slice(agentPrefix.length).replaceAll('__', '.') : tool)

/**
 * Takes in an agent that is heard of for the first time. A child hangs below the very call that it says has started it;
 * one whose call was never heard of is a root.
 */
export function joinSession(tree: RunTree, event: StreamEvent): SessionNodes {
  const { agentPath: path, sessionId } = event
  const started = event.type === 'interaction.session.created' ? event : undefined
  const above = started?.parent && tree.sessions.get(started.parent.sessionId)
  const agent: AgentNode = {
    path,
    name: path,
    label: started?.parent ? labelOf(started, above) : '',
    maxSteps: 0,
    maxRetries: 0,
    parallelCalls: Number.POSITIVE_INFINITY,
    notes: [],
    turns: [],
  }
  const session: SessionNodes = { agent, above, steps: new Map(), calls: new Map(), requests: new Map(), hooks: new Map() }
  tree.sessions.set(sessionId, session)
  const call = started?.parent && callOf(tree, started.parent)
  if (!call) tree.roots.push(agent)
  else {
    call.child = agent
    // It may have stood in line until now.
    if (started) call.span = { from: started.at, to: started.at }
    // How its dots were written is known for sure only now.
    if (started && isOffered(call.tool)) call.name = printable(started.agent.toolName)
  }
  return session
}

function labelOf({ agent, agentPath }: InteractionEvent<'interaction.session.created'>, above: SessionNodes | undefined): string {
  const label = above?.agent.label
  const [, number = '1'] = /#(\d+)$/.exec(agentPath) ?? []
  return `${label ? `${label}/` : 'child:'}${agent.toolName}${number === '1' ? '' : `#${number}`}`
}

const callOf = (tree: RunTree, { sessionId, itemId }: ParentCall): CallNode | undefined => tree.sessions.get(sessionId)?.calls.get(itemId)
