import { useComputed } from '@preact/signals'
import type { Plan, TurnEnding } from '../../contracts/index.ts'
import { handoffEndNotice, turnEndTexts } from '../../policy/limit-texts.ts'
import type { AgentNode, CallNode, TextNode } from '../../view/index.ts'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { CallCard } from './call-card.tsx'
import { Code } from './call-details.tsx'
import { CallFold } from './call-fold.tsx'
import { foldedParts } from './call-runs.ts'
import { ChildCards } from './child-cards.tsx'
import { oneLine, planTool, type ShownStep, type StepPart, stepParts } from './conversation-items.ts'
import { useView } from './conversation-view.ts'
import { Disclosure } from './disclosure.tsx'
import { FailedAttempt, Note, QuietLine, Rejected } from './notes.tsx'
import { PlanView } from './plan.tsx'
import { UserMessage } from './user-message.tsx'

interface StepProps extends ShownStep {
  readonly agent: AgentNode
  readonly plan: Plan | undefined
  readonly ending: TurnEnding | undefined
  /** It is in a fold, and shows each call. */
  readonly isFolded?: boolean
}

/** A step: what steered it, what the model wrote, its calls, and what waits for a person. */
export function Step({ step, from, to, agent, plan, ending, isFolded = false }: StepProps) {
  const page = usePage()
  const { store } = useView()
  store.use(step)
  // How they are shown depends on them.
  for (const call of step.calls) if (call.isAgent || call.tool === planTool) store.use(call)
  const isSelected = useComputed(() => page.selected.value === step.id).value
  const { absorbed, attempts, notes, rejected, last, requests } = step
  const messages = agent.messages.filter(({ id }) => absorbed.includes(id))
  const parts = stepParts(step, { from, to }, plan)
  return (
    <div class="conv-step" data-node={step.id} data-selected={isSelected ? '' : undefined}>
      {messages.map((message) => (
        <UserMessage key={message.id} message={message} />
      ))}
      {attempts.map(
        (attempt, index) =>
          !(ending?.status === 'failed' && ending.message === attempt.failure?.message) && (
            <FailedAttempt key={index} attempt={attempt} now={() => store.now()} />
          ),
      )}
      {last !== undefined && last !== 'stopped' && (
        <QuietLine icon="error">Last answer, without tools: {turnEndTexts[last].status}</QuietLine>
      )}
      {(isFolded ? parts : foldedParts(parts)).map((part) =>
        part.kind === 'calls' ? <Calls key={part.id} {...part} /> : <Part key={part.id} part={part} agent={agent} />,
      )}
      {rejected && <Rejected rejected={rejected} />}
      {notes.map((note, index) => (
        <Note key={index} note={note} />
      ))}
      {[...requests.values()].map(({ request }) => request && <ApprovalCard key={request.id} sessionId={store.id} request={request} />)}
    </div>
  )
}

const Calls = ({ id, calls }: { readonly id: string; readonly calls: readonly CallNode[] }) => (
  <CallFold
    id={id}
    calls={calls}
    items={calls}
    contains={(node) => calls.some((call) => call.id === node)}
    render={(call) => <CallCard key={call.id} call={call} />}
  />
)

function Part({ part, agent }: { readonly part: StepPart; readonly agent: AgentNode }) {
  const { AgentFlow } = useView()
  switch (part.kind) {
    case 'text':
      if (part.text.type === 'reasoning') return <Reasoning id={part.text.id} text={part.text.text} isStreamed={part.text.isOpen} />
      return <AnswerText text={part.text.text} isOpen={part.text.isOpen} isJson={agent.spec?.output.format === 'json'} />
    case 'plan':
      return <PlanView id={part.id} plan={part.plan} />
    case 'call':
      return <CallCard call={part.call} />
    case 'children':
      return <ChildCards calls={part.calls} />
    case 'handoff':
      return (
        <div class="handoff" data-node={part.id}>
          <p class="speaker line">
            <Icon name="agent" />
            {part.child.name} talks to you
          </p>
          <AgentFlow agent={part.child} />
          {!part.call.speaks && <p class="speaker line">{handoffEndText(part, agent)}</p>}
        </div>
      )
    default:
      return part satisfies never
  }
}

/** A failure is shown by the turn that failed. */
function handoffEndText({ call, child }: Extract<StepPart, { kind: 'handoff' }>, agent: AgentNode): string {
  const notice = call.handoffEnd && handoffEndNotice({ reason: call.handoffEnd, agent: child.name })
  return [notice ?? '', `${agent.name} continues`].join(' ').trimStart()
}

interface AnswerTextProps {
  readonly text: string
  readonly isOpen?: boolean
  readonly isJson: boolean
}

export const AnswerText = ({ text, isOpen = false, isJson }: AnswerTextProps) =>
  isJson ? <Code label="JSON" text={formatted(text)} /> : <Markdown text={text} isOpen={isOpen} />

function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

interface ReasoningProps extends Pick<TextNode, 'id' | 'text'> {
  readonly isStreamed: boolean
}

function Reasoning({ id, text, isStreamed }: ReasoningProps) {
  const line = (isOpen: boolean) => (
    <>
      <span>{isStreamed ? 'Thinking' : 'Thoughts'}</span>
      {!isOpen && <span class="grow tone-muted truncate">{oneLine(isStreamed ? text.slice(-90) : text)}</span>}
    </>
  )
  return (
    <Disclosure id={id} line={line}>
      <div class="reasoning-text quote">
        <Markdown text={text} isOpen={isStreamed} />
      </div>
    </Disclosure>
  )
}
