import type { AgentDescription } from '../../contracts/index.ts'
import { plural } from '../../util/plural.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { knownAgents, rootsFirst } from '../ui/agent-facts.ts'
import { Icon } from '../ui/icon.tsx'
import { lazy } from '../ui/lazy.tsx'
import { PageFrame, PageSection } from './page-frame.tsx'

const AgentDetails = lazy(() => import('./agent-details.tsx').then(({ AgentDetails }) => AgentDetails))

/** All agents, or one of them. */
export function AgentsPage({ agent: wanted }: { readonly agent: string | undefined }) {
  const page = usePage()
  const agents = knownAgents(page.agents.value)
  const agent = agents.find(({ name }) => name === wanted)
  return (
    <PageFrame key={wanted} title={wanted === undefined ? 'Agents' : <AgentPath name={wanted} />}>
      {agent ? (
        <AgentDetails agent={agent} agents={agents} />
      ) : wanted === undefined ? (
        <AgentList agents={agents} />
      ) : (
        page.status.value && (
          <p class="muted">
            There is no agent <code>{wanted}</code>. <a href={hashOf({ view: 'agents' })}>Show all agents</a>
          </p>
        )
      )}
    </PageFrame>
  )
}

function AgentPath({ name }: { readonly name: string }) {
  return (
    <>
      <a class="muted" href={hashOf({ view: 'agents' })}>
        Agents
      </a>
      <span class="muted" aria-hidden="true">
        {' / '}
      </span>
      {name}
    </>
  )
}

function AgentList({ agents }: { readonly agents: readonly AgentDescription[] }) {
  const page = usePage()
  const { roots, others } = rootsFirst(agents)
  return (
    <>
      <AgentRows agents={roots} />
      {others.length > 0 && (
        <PageSection title="Called by other agents" level={2}>
          <AgentRows agents={others} />
        </PageSection>
      )}
      {agents.length === 0 && page.status.value && <p class="muted">The server has no agents.</p>}
    </>
  )
}

const AgentRows = ({ agents }: { readonly agents: readonly AgentDescription[] }) =>
  agents.length > 0 && (
    <ul class="rows">
      {agents.map((agent) => (
        <AgentRow key={agent.name} agent={agent} />
      ))}
    </ul>
  )

function AgentRow({ agent }: { readonly agent: AgentDescription }) {
  const { name, description, models, tools, agents } = agent
  const facts = [
    models[0],
    tools.includes('*') ? 'all tools' : tools.length > 0 && plural(tools.length, 'tool'),
    agents.length > 0 && plural(agents.length, 'agent'),
  ]
  return (
    <li>
      <a class="row-link line" href={hashOf({ view: 'agents', agent: name })}>
        <Icon name="agent" />
        <span class="row-words">
          <span class="row-name">{name}</span>
          <span>{description}</span>
          <span class="muted small">{facts.filter(Boolean).join(' · ')}</span>
        </span>
        <Icon name="chevron" />
      </a>
    </li>
  )
}
