import { textOfParts } from '../../util/text-of-parts.ts'
import type { AgentNode } from '../../view/index.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { hashOf } from '../state/hash-route.ts'
import { type ConversationItem, conversationItems } from './conversation-items.ts'
import { type AgentFlowProps, useView } from './conversation-view.ts'
import { MessageParts } from './message-parts.tsx'
import { Note, QuietLine } from './notes.tsx'
import { Turn } from './turn.tsx'
import { UserMessage } from './user-message.tsx'

export function AgentFlow({ agent, isNested = false }: AgentFlowProps) {
  const { store } = useView()
  store.use(agent)
  // Whether a message was read is known from the steps.
  const turn = agent.turns.at(-1)
  if (turn) store.use(turn)
  return (
    <>
      {agent.notes.map((note, index) => (
        <Note key={index} note={note} />
      ))}
      {itemsOf(agent, store.root).map((item) => (
        <Item key={`${item.kind} ${item.id}`} item={item} agent={agent} isNested={isNested} />
      ))}
    </>
  )
}

/** Messages to the root that wait are shown below the conversation. */
const itemsOf = (agent: AgentNode, root: AgentNode | undefined): readonly ConversationItem[] =>
  conversationItems(agent).filter((item) => item.kind !== 'message' || item.state === 'read' || agent !== root)

function Item({ item, agent, isNested }: AgentFlowProps & { readonly item: ConversationItem }) {
  const { store } = useView()
  switch (item.kind) {
    case 'forked':
      return (
        <QuietLine icon="branch">
          Copy of <a href={hashOf({ view: 'session', id: item.from })}>another session</a>
        </QuietLine>
      )
    case 'imported': {
      const { role, parts } = item.message as Exclude<typeof item.message, { role: 'tool' }>
      if (role === 'user')
        return (
          <article class="said">
            <h2 class="visually-hidden">You, earlier</h2>
            <div class="said-bubble">
              <MessageParts parts={parts} />
            </div>
          </article>
        )
      const text = textOfParts(parts, '\n\n')
      return text === '' ? null : (
        <article class="conv-turn">
          <h2 class="visually-hidden">{agent.name}, earlier</h2>
          <Markdown text={text} />
        </article>
      )
    }
    case 'message':
      // Its task comes from its parent.
      if (isNested || (agent !== store.root && item.id === `${agent.id}.input`))
        return (
          <div class="quote" data-message={item.id}>
            <MessageParts parts={item.message.parts} />
          </div>
        )
      return <UserMessage message={item.message} state={item.state} canBranch={agent === store.root} />
    case 'turn':
      return <Turn turn={item.turn} agent={agent} isNested={isNested} />
    default:
      return item satisfies never
  }
}
