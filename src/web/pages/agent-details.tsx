import { useState } from 'preact/hooks'
import type { AgentDescription } from '../../contracts/index.ts'
import { type SetupState, useAgentSetup } from '../state/agent-setup.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { limitFacts } from '../ui/agent-facts.ts'
import { CodeBox } from '../ui/code-box.tsx'
import { Facts } from '../ui/facts.tsx'
import { AgentGraphView } from './agent-graph-view.tsx'
import { AgentTools } from './agent-tools.tsx'
import { NewAgentDialog } from './new-agent-dialog.tsx'
import { PageSection } from './page-frame.tsx'
import { RecentSessions } from './recent-sessions.tsx'

interface AgentDetailsProps {
  readonly agent: AgentDescription
  /** All that are known. */
  readonly agents: readonly AgentDescription[]
}

/** Everything that callers need to know of an agent. */
export function AgentDetails({ agent, agents }: AgentDetailsProps) {
  const page = usePage()
  const state = useAgentSetup(agent.name)
  const [isCopying, setCopying] = useState(false)
  const { name, displayName, description, usage, models, tools, limits, parameters, overrides, template } = agent
  const callers = agents.filter((each) => each.name !== name && each.agents.includes(name))
  const limited = limitFacts(limits)
  const isAskable = page.agents.value.some((each) => each.name === name)
  const set = Object.entries(parameters).map(([key, value]) => [key, String(value)] as const)
  return (
    <>
      <div class="agent-head">
        <div>
          <h2 class="agent-name">{displayName ?? name}</h2>
          <p class="agent-about">{description}</p>
        </div>
        <p class="chips">
          {isAskable && (
            <a class="button button-primary" href={hashOf({ view: 'new', agent: name })}>
              Try it
            </a>
          )}
          {template !== undefined && (
            <button type="button" class="button" onClick={() => setCopying(true)}>
              Start a new agent from this one
            </button>
          )}
        </p>
      </div>
      {callers.length > 0 && (
        <p class="agent-callers">
          <span class="muted">{isAskable ? 'Called by' : 'Only other agents can ask it. Called by'}</span>
          {callers.map((each) => (
            <a key={each.name} class="chip" href={hashOf({ view: 'agents', agent: each.name })}>
              {each.name}
            </a>
          ))}
        </p>
      )}
      <PageSection title="Prompt">
        <Prompt state={state} />
      </PageSection>
      <PageSection title="Tools">
        <AgentTools tools={tools} state={state} />
      </PageSection>
      {agent.agents.length > 0 && (
        <PageSection title="Agents that it calls">
          <AgentGraphView root={name} agents={agents} />
        </PageSection>
      )}
      <div class="agent-columns">
        <PageSection title="Input">
          <Contract contract={agent.input} example={usage} />
        </PageSection>
        <PageSection title="Output">
          <Contract contract={agent.output} />
        </PageSection>
        <PageSection title="Models">
          {models.length > 0 ? (
            <ol class="models">
              {models.map((model) => (
                <li key={model}>
                  <code>{model}</code>
                </li>
              ))}
            </ol>
          ) : (
            <p class="muted">The model of its caller.</p>
          )}
        </PageSection>
        <PageSection title="Limits">{limited.length > 0 ? <Facts facts={limited} /> : <p class="muted">The defaults.</p>}</PageSection>
        {(set.length > 0 || overrides.length > 0) && (
          <PageSection title="Parameters">
            <Facts facts={set} />
            {overrides.length > 0 && <p class="muted">Callers may set {overrides.join(', ')}.</p>}
          </PageSection>
        )}
      </div>
      <RecentSessions agent={name} />
      {isCopying && template !== undefined && (
        <NewAgentDialog
          agent={agent}
          template={template}
          prompt={state.kind === 'ready' ? state.setup.prompt : undefined}
          taken={agents.map((each) => each.name)}
          onClose={() => setCopying(false)}
        />
      )}
    </>
  )
}

/** The system prompt of the agent. */
function Prompt({ state }: { readonly state: SetupState }) {
  switch (state.kind) {
    case 'loading':
      return <p class="muted">Loading…</p>
    case 'hidden':
      return <p class="muted">Your token cannot read prompts: it lacks the scope “admin”.</p>
    case 'failed':
      return (
        <p class="tone-error">
          {state.message} {state.remedy}
        </p>
      )
    case 'ready':
      return state.setup.prompt.trim() === '' ? (
        <p class="muted">Empty.</p>
      ) : (
        <CodeBox class="agent-prompt" text={state.setup.prompt.trim()} />
      )
  }
}

function Contract({
  contract,
  example,
}: {
  readonly contract: AgentDescription['input'] | AgentDescription['output']
  readonly example?: string | undefined
}) {
  const schema = 'schema' in contract ? contract.schema : undefined
  return (
    <>
      <p>{contract.format === 'json' ? 'JSON that matches this schema' : contract.format === 'markdown' ? 'Markdown' : 'Text'}</p>
      {schema !== undefined && <CodeBox text={JSON.stringify(schema, null, 2)} />}
      {example !== undefined && (
        <p class="muted">
          Example: <q>{example}</q>
        </p>
      )}
    </>
  )
}
