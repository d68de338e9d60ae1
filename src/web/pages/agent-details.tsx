import type { AgentDescription } from '../../contracts/index.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { limitFacts, toolGroups } from '../ui/agent-facts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { AgentGraphView } from './agent-graph-view.tsx'
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
  const { name, displayName, description, usage, models, tools, limits, parameters, overrides, template } = agent
  const callers = agents.filter((each) => each.name !== name && each.agents.includes(name))
  const limited = limitFacts(limits)
  const groups = toolGroups(tools)
  const isAskable = page.agents.value.some((each) => each.name === name)
  const set = Object.entries(parameters).map(([key, value]) => [key, String(value)] as const)
  return (
    <>
      <div class="agent-head">
        <div>
          <h2 class="agent-name">{displayName ?? name}</h2>
          <p class="agent-about">{description}</p>
        </div>
        {isAskable && (
          <a class="button button-primary" href={hashOf({ view: 'new', agent: name })}>
            Try it
          </a>
        )}
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
      <PageSection title="Tools">
        {tools.length === 0 && <p class="muted">None.</p>}
        {groups.map(({ source, tools: those }) => (
          <div key={source} class="tool-group">
            {groups.length > 1 && <h4 class="muted small">{source || 'built in'}</h4>}
            <ul class="chips plain-list">
              {those.map((tool) => (
                <li key={tool} class="chip mono">
                  {tool === '*' ? 'all tools' : tool}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </PageSection>
      {template !== undefined && (
        <PageSection title="Frontmatter for a new agent file with the same settings">
          <CodeBox text={template} />
        </PageSection>
      )}
      <RecentSessions agent={name} />
    </>
  )
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

export function CodeBox({ text }: { readonly text: string }) {
  return (
    <div class="code-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} />
    </div>
  )
}
