import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Message, ModelRequest, ToolSpec } from '../../contracts/index.ts'
import { exactLine } from '../../util/exact-text.ts'
import { plural } from '../../util/plural.ts'
import { grouped, size } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import type { RequestState } from '../state/model-requests.ts'
import { CopyIcon } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { Fold } from '../ui/fold.tsx'
import { changesSince, type RequestChanges } from './request-changes.ts'
import { formattedJson, type MessagePart, partsOf } from './request-parts.ts'

// The request of a model step. It may have megabytes: messages are folded, texts are cut, and only the last messages are listed at first.

const firstMessages = 60
const moreMessages = 200
/** The newest messages are open. */
const openMessages = 4
const cut = { lines: 14, characters: 2_000 } as const

export function RequestView({ state }: { readonly state: Extract<RequestState, { kind: 'ready' }> }) {
  const { request, before } = state
  const changes = useMemo(() => changesSince(before, request), [state])
  const { system, messages, tools } = request
  return (
    <div class="request">
      <p class="request-sum line muted small">
        <span class="grow">{sumOf(request, changes, before !== undefined)}</span>
        <CopyIcon text={() => JSON.stringify(request, null, 2)} label="Copy request" />
      </p>
      <Group name="System prompt" fact={size(system.length)} isNew={changes.isSystemNew}>
        {system === '' ? <p class="muted small">Empty</p> : <Text text={system} lines={8} />}
      </Group>
      <Group name="Messages" fact={grouped(messages.length)}>
        {changes.replaced > 0 && (
          <p class="request-note tone-warning small">{plural(changes.replaced, 'earlier message')} replaced since the step before</p>
        )}
        <Messages messages={messages} firstNew={changes.firstNew} />
      </Group>
      <Group name="Tools" fact={grouped(tools.length)}>
        {changes.goneTools.length > 0 && (
          <p class="request-note tone-warning small">Gone since the step before: {exactLine(changes.goneTools.join(', '))}</p>
        )}
        {tools.map((tool) => (
          <Tool key={tool.name} tool={tool} isNew={changes.newTools.has(tool.name)} />
        ))}
      </Group>
      <Group name="Parameters" isNew={changes.areParametersNew}>
        <Parameters request={request} />
      </Group>
    </div>
  )
}

function sumOf({ messages, tools }: ModelRequest, changes: RequestChanges, isCompared: boolean): string {
  const added = messages.length - changes.firstNew
  const news = [added > 0 && plural(added, 'message'), changes.newTools.size > 0 && plural(changes.newTools.size, 'tool')].filter(Boolean)
  const since = news.length > 0 ? `New since the step before: ${news.join(', ')}` : 'Nothing is new since the step before'
  return [plural(messages.length, 'message'), plural(tools.length, 'tool'), isCompared && since].filter(Boolean).join(' · ')
}

interface GroupProps {
  readonly name: string
  readonly fact?: string
  readonly isNew?: boolean
  readonly children: ComponentChildren
}

const Group = ({ name, fact, isNew = false, children }: GroupProps) => (
  <section class="request-group">
    <h3 class="line">
      {name}
      {fact !== undefined && <span class="muted">{fact}</span>}
      {isNew && <New />}
    </h3>
    {children}
  </section>
)

const New = () => <span class="request-new">new</span>

const Text = ({ text, lines = cut.lines }: { readonly text: string; readonly lines?: number }) => (
  <pre class="request-text">
    <LongText text={text} lines={lines} characters={cut.characters} more={50_000} isExact />
  </pre>
)

function Messages({ messages, firstNew }: { readonly messages: readonly Message[]; readonly firstNew: number }) {
  const [count, setCount] = useState(firstMessages)
  const first = Math.max(0, messages.length - count)
  return (
    <>
      {first > 0 && (
        <button type="button" class="link-button small" onClick={() => setCount(count + moreMessages)}>
          Show {grouped(Math.min(first, moreMessages))} earlier messages of {grouped(first)}
        </button>
      )}
      {messages.slice(first).map((message, index) => {
        const at = first + index
        const isLate = at >= messages.length - openMessages
        return (
          <MessageFold key={at} message={message} isNew={at >= firstNew} isOpen={isLate && (at >= firstNew || messages.length === 1)} />
        )
      })}
    </>
  )
}

const roles = { user: 'User', assistant: 'Assistant', tool: 'Tool' } as const

function MessageFold({ message, isNew, isOpen }: { readonly message: Message; readonly isNew: boolean; readonly isOpen: boolean }) {
  const parts = partsOf(message)
  return (
    <Fold
      class={`request-message${isNew ? ' request-message-new' : ''}`}
      isOpenAtFirst={isOpen}
      line={
        <>
          <span class={`request-role request-role-${message.role}`}>{roles[message.role]}</span>
          <span class="grow truncate muted">
            {exactLine(
              parts
                .map(({ line }) => line)
                .join(' · ')
                .slice(0, 160),
            )}
          </span>
          {isNew && <New />}
          <span class="request-size muted">{size(parts.reduce((sum, { length }) => sum + length, 0))}</span>
        </>
      }
    >
      {() => parts.map((part, index) => <Part key={index} part={part} />)}
    </Fold>
  )
}

const Part = ({ part: { label, text, tone, isJson } }: { readonly part: MessagePart }) => (
  <div class="request-part">
    {label !== '' && <p class={`small ${tone === 'error' ? 'tone-error' : 'muted'}`}>{exactLine(label)}</p>}
    {text !== '' && <Text text={isJson ? formattedJson(text) : text} />}
  </div>
)

const Tool = ({ tool: { name, description, inputSchema }, isNew }: { readonly tool: ToolSpec; readonly isNew: boolean }) => (
  <Fold
    class={isNew ? 'request-message-new' : ''}
    line={
      <>
        <span class="mono request-tool truncate">{exactLine(name)}</span>
        <span class="grow truncate muted">{exactLine(description.slice(0, 160))}</span>
        {isNew && <New />}
      </>
    }
  >
    {() => (
      <>
        <Text text={description} />
        <Text text={JSON.stringify(inputSchema, null, 2)} />
      </>
    )}
  </Fold>
)

function Parameters({ request: { parameters, toolChoice, output } }: { readonly request: ModelRequest }) {
  const { temperature, topP, maxOutputTokens, seed, reasoning, cache } = parameters
  return (
    <Facts
      class="timeline-facts"
      facts={[
        ['Tool choice', toolChoice === 'none' ? 'none: it must answer' : toolChoice],
        ['Maximum output', maxOutputTokens && `${grouped(maxOutputTokens)} tokens`],
        ['Temperature', temperature?.toString()],
        ['Top P', topP?.toString()],
        ['Seed', seed?.toString()],
        ['Reasoning', reasoning],
        ['Prompt cache', cache === false ? 'off' : undefined],
        ['Answer', output && (output.schema ? 'JSON with a schema' : 'JSON')],
        ['Schema', output?.schema && JSON.stringify(output.schema, null, 2)],
      ]}
    />
  )
}
