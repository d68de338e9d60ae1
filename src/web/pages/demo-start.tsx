import type { AgentDescription } from '../../contracts/index.ts'
import { MessageBox } from '../conversation/message-box.tsx'
import { startSession } from '../state/actions.ts'
import { openDraft } from '../state/drafts.ts'
import { usePage } from '../state/page.ts'
import { CopyIcon } from '../ui/copy-button.tsx'
import { AgentGraphView } from './agent-graph-view.tsx'
import { type DemoFlow, demoFlows } from './demo-flows.ts'

const initCommand = 'npx troupe init'

/** Where the demonstration begins: a team, and three things that it does on a click. */
export function DemoStart({ agent }: { readonly agent: AgentDescription }) {
  const page = usePage()
  return (
    <div class="demo-start">
      <h2 class="demo-headline">A team of agents that asks before it acts.</h2>
      <p class="start-about">
        A small web shop has a failing test. The answers of the model are recorded. Files, tests, edits, the crash and the budget are real.
      </p>
      <AgentGraphView root="lead" agents={page.agents.value} />
      <FlowCards flows={demoFlows} />
      <MessageBox
        draft={openDraft('new')}
        placeholder={`Or write to ${agent.name} in your own words`}
        agent={agent}
        input={agent.input}
        onSend={(message) => startSession(page, agent.name, message)}
      />
      <InitLine />
    </div>
  )
}

interface FlowCardsProps {
  readonly flows: readonly DemoFlow[]
  /** Below other things. */
  readonly isSmall?: boolean
}

/** Each runs when it is clicked. */
export function FlowCards({ flows, isSmall = false }: FlowCardsProps) {
  const page = usePage()
  const isReady = page.mayRun.value && page.connection.value.kind === 'open'
  return (
    <div class="demo-cards" data-small={isSmall ? '' : undefined}>
      {flows.map((flow) => (
        <button
          key={flow.id}
          type="button"
          class="demo-card"
          disabled={!isReady}
          onClick={() => void startSession(page, flow.agent, { parts: [{ type: 'text', text: flow.message }] })}
        >
          <strong>{flow.title}</strong>
          {!isSmall && <span>{flow.about}</span>}
          {!isSmall && <span class="demo-seconds">{flow.seconds} seconds</span>}
        </button>
      ))}
    </div>
  )
}

export const InitLine = () => (
  <p class="demo-init line">
    Agents of your own: <code>{initCommand}</code>
    <CopyIcon text={initCommand} label="Copy the command" />
  </p>
)
