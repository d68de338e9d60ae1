import { useState } from 'preact/hooks'
import { plural } from '../../view/index.ts'
import type { AgentDescription } from '../api/documents.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { PaneHead } from '../ui/pane-head.tsx'
import { AgentDetails } from './agent-details.tsx'
import { knownAgents, rootsFirst } from './agent-facts.ts'

/** All agents, or one of them. */
export function AgentsPage({ agent: wanted }: { readonly agent: string | undefined }) {
  const page = usePage()
  const agents = knownAgents(page.agents.value)
  const agent = agents.find(({ name }) => name === wanted)
  return (
    <>
      <PaneHead title={wanted === undefined ? 'Agents' : <AgentPath name={wanted} />} />
      <div class="page" key={wanted}>
        <div class="page-column">
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
        </div>
      </div>
    </>
  )
}

function AgentPath({ name }: { readonly name: string }) {
  return (
    <>
      <a class="quiet-link" href={hashOf({ view: 'agents' })}>
        Agents
      </a>
      <span class="path-mark" aria-hidden="true">
        /
      </span>
      {name}
    </>
  )
}

const searchFrom = 8

function AgentList({ agents }: { readonly agents: readonly AgentDescription[] }) {
  const page = usePage()
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const { roots, others } = rootsFirst(agents)
  const matching = (those: readonly AgentDescription[]): readonly AgentDescription[] =>
    those.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
  const groups = [
    { title: undefined, agents: matching(roots) },
    { title: 'Called by other agents', agents: matching(others) },
  ].filter((group) => group.agents.length > 0)
  return (
    <>
      {agents.length > searchFrom && (
        <label class="search page-search">
          <span class="visually-hidden">Search agents</span>
          <Icon name="search" />
          <input
            class="field"
            type="search"
            placeholder={`Search ${agents.length} agents`}
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
      )}
      {groups.map(({ title, agents: those }) => (
        <section key={title ?? ''} aria-label={title ?? 'Agents'}>
          {title && <h2 class="section-title">{title}</h2>}
          <ul class="rows">
            {those.map((agent) => (
              <AgentRow key={agent.name} agent={agent} />
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && page.status.value && (
        <p class="muted">{wanted === '' ? 'The server has no agents.' : `No agent matches “${search.trim().slice(0, 80)}”.`}</p>
      )}
    </>
  )
}

function AgentRow({ agent }: { readonly agent: AgentDescription }) {
  const { name, description, models, tools, agents } = agent
  const facts = [
    models[0],
    tools.includes('*') ? 'all tools' : tools.length > 0 && plural(tools.length, 'tool'),
    agents.length > 0 && plural(agents.length, 'agent'),
  ]
  return (
    <li>
      <a class="row-link" href={hashOf({ view: 'agents', agent: name })}>
        <Icon name="agent" />
        <span class="row-name">{name}</span>
        <span class="row-about muted">{description}</span>
        <span class="row-facts muted small">{facts.filter(Boolean).join(' · ')}</span>
        <Icon name="chevron" />
      </a>
    </li>
  )
}
