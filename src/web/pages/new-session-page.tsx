import { useEffect, useRef } from 'preact/hooks'
import type { AgentDescription } from '../../contracts/index.ts'
import { newSessionWith } from '../commands/commands.ts'
import { MessageBox } from '../conversation/message-box.tsx'
import { startSession } from '../state/actions.ts'
import { needsModel } from '../state/connect-model.ts'
import { openDraft } from '../state/drafts.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { chooseAgent, rootsFirst } from '../ui/agent-facts.ts'
import { CodeBox } from '../ui/code-box.tsx'
import { Icon } from '../ui/icon.tsx'
import { PaneHead } from '../ui/pane-head.tsx'
import { DemoStart } from './demo-start.tsx'
import { ModelBanner } from './model-banner.tsx'
import { RecentSessions } from './recent-sessions.tsx'

const maxExamples = 3
const maxChoices = 5

/** Where a session begins: an agent, examples of what it does, and a message. */
export function NewSessionPage({ agent: wanted }: { readonly agent: string | undefined }) {
  const page = usePage()
  const agent = chooseAgent(page.agents.value, wanted, page.settings.value.lastAgent)
  const isNeedy = needsModel(page.status.value) && wanted === undefined
  useEffect(() => {
    // Nothing else can be done first. The page stays until the person has seen that it worked.
    if (isNeedy) location.replace(hashOf({ view: 'connect' }))
  }, [isNeedy])
  const last = useRef(agent?.name)
  useEffect(() => {
    if (last.current === agent?.name) return
    last.current = agent?.name
    // The text is for any agent. Models and limits are those of one.
    const draft = openDraft('new')
    draft.value = { ...draft.value, settings: {} }
  }, [agent?.name])
  return (
    <>
      <PaneHead title="New session" />
      {agent && <ModelBanner models={agent.models} />}
      <div class="page start">
        <div class="start-column">
          {agent && wanted !== undefined && wanted !== agent.name && (
            <p class="start-note">
              There is no agent <code>{wanted}</code>. <strong>{agent.name}</strong> answers instead.
            </p>
          )}
          {agent && page.status.value?.demo && wanted === undefined ? (
            <DemoStart agent={page.agents.value.find(({ name }) => name === 'lead') ?? agent} />
          ) : agent ? (
            <Start key={agent.name} agent={agent} />
          ) : (
            page.status.value && <NoAgents />
          )}
        </div>
      </div>
    </>
  )
}

function Start({ agent }: { readonly agent: AgentDescription }) {
  const page = usePage()
  const draft = openDraft('new')
  const examples = (agent.examples ?? []).slice(0, maxExamples)
  const use = (text: string): void => {
    draft.value = { ...draft.value, text }
    document.querySelector<HTMLElement>('.start .message-text')?.focus()
  }
  return (
    <>
      <h2 class="start-title">{agent.displayName ?? agent.name}</h2>
      <div class="start-about">
        {agent.description}
        {agent.models[0] && <p class="small">Answered by {agent.models[0]}</p>}
      </div>
      <AgentChoice agent={agent} />
      {page.mayRun.value ? (
        <MessageBox
          draft={draft}
          placeholder={agent.usage ?? `Message ${agent.name}`}
          agent={agent}
          input={agent.input}
          autoFocus
          onSend={async (message) => {
            const isStarted = await startSession(page, agent.name, message)
            if (isStarted) page.set({ lastAgent: agent.name })
            return isStarted
          }}
        />
      ) : (
        <p class="start-note">Your token can only read: it lacks the scope “run”.</p>
      )}
      {examples.length > 0 && page.mayRun.value && (
        <section aria-label="Examples" class="start-examples">
          {examples.map((example) => (
            <button key={example} type="button" class="start-example" onClick={() => use(example)}>
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
  const { roots, others } = rootsFirst(agents)
  const first = [...roots, ...others].slice(0, maxChoices)
  const shown = first.some(({ name }) => name === agent.name) ? first : [agent, ...first.slice(0, maxChoices - 1)]
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
  const isAdmin = usePage().status.value?.scopes.includes('admin') ?? false
  if (!isAdmin)
    return (
      <>
        <h2 class="start-title">There are no agents for you</h2>
        <p class="start-about">Your token can use no agent of this server. Ask the person who created it.</p>
      </>
    )
  return (
    <>
      <h2 class="start-title">There are no agents yet</h2>
      <p class="start-about">
        An agent is a file. Save this text as <code>helper.ai</code> in the folder of the server. The agent appears here when the file is
        saved.
      </p>
      <CodeBox text={firstAgent} />
    </>
  )
}
