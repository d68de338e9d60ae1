import { useState } from 'preact/hooks'
import type { AgentDescription } from '../api/documents.ts'
import { ModelBanner } from '../shell/model-banner.tsx'
import { startSession } from '../state/actions.ts'
import { newSessionWith } from '../state/commands.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { PaneHead } from '../ui/pane-head.tsx'
import { chooseAgent, rootsFirst } from './agent-facts.ts'
import { RecentSessions } from './recent-sessions.tsx'

const maxExamples = 3
const maxChoices = 5

/** Where a session begins: an agent, examples of what it does, and a message. */
export function NewSessionPage({ agent: wanted, openDrawer }: { readonly agent: string | undefined; openDrawer(): void }) {
  const page = usePage()
  const agent = chooseAgent(page.agents.value, wanted, page.settings.value.lastAgent)
  return (
    <>
      <PaneHead title="New session" openDrawer={openDrawer} />
      {agent && <ModelBanner models={agent.models} />}
      <div class="page start">
        <div class="start-column">
          {agent && wanted !== undefined && wanted !== agent.name && (
            <p class="start-note">
              There is no agent <code>{wanted}</code>. <strong>{agent.name}</strong> answers instead.
            </p>
          )}
          {agent ? <Start key={agent.name} agent={agent} /> : page.status.value && <NoAgents />}
        </div>
      </div>
    </>
  )
}

function Start({ agent }: { readonly agent: AgentDescription }) {
  const page = usePage()
  const [text, setText] = useState('')
  const examples = (agent.examples ?? []).slice(0, maxExamples)
  const send = (): void => {
    if (text.trim() === '') return
    page.set({ lastAgent: agent.name })
    void startSession(page, agent.name, { parts: [{ type: 'text', text }] })
  }
  return (
    <>
      <h2 class="start-title">{agent.displayName ?? agent.name}</h2>
      <p class="start-about">{agent.description}</p>
      <AgentChoice agent={agent} />
      <textarea
        class="field"
        aria-label="Message"
        value={text}
        placeholder={agent.usage}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="button" class="button button-primary" onClick={send}>
        Send
      </button>
      {examples.length > 0 && (
        <section aria-label="Examples" class="start-examples">
          {examples.map((example) => (
            <button key={example} type="button" class="start-example" onClick={() => setText(example)}>
              {example}
            </button>
          ))}
        </section>
      )}
      <RecentSessions agent={agent.name} />
    </>
  )
}

/** The agents that a person may ask first. All others are in the palette. */
function AgentChoice({ agent }: { readonly agent: AgentDescription }) {
  const page = usePage()
  const { value: agents } = page.agents
  if (agents.length < 2) return null
  const roots = rootsFirst(agents).roots.slice(0, maxChoices)
  const shown = roots.some(({ name }) => name === agent.name) ? roots : [agent, ...roots.slice(0, maxChoices - 1)]
  return (
    <nav class="start-agents" aria-label="Agent">
      {shown.map(({ name, description }) => (
        <a
          key={name}
          class="chip"
          href={hashOf({ view: 'new', agent: name })}
          title={description}
          aria-current={name === agent.name ? 'true' : undefined}
        >
          <span class="truncate">{name}</span>
        </a>
      ))}
      {agents.length > shown.length && (
        <button type="button" class="chip" onClick={() => page.show({ kind: 'palette', text: `${newSessionWith} ` })}>
          {agents.length - shown.length} more <Icon name="chevron" />
        </button>
      )}
    </nav>
  )
}

const firstAgent = `---
description: Answers questions about this project
usage: Where are the tests?
tools: [read_file, list_files, search_files]
---
You answer questions about the files of this project.
`

function NoAgents() {
  return (
    <>
      <h2 class="start-title">There are no agents yet</h2>
      <p class="start-about">
        An agent is a file. Save this text as <code>helper.ai</code> in the folder of the server. The agent appears here when the file is
        saved.
      </p>
      <div class="code-box">
        <pre>{firstAgent}</pre>
        <CopyButton text={firstAgent} />
      </div>
    </>
  )
}
