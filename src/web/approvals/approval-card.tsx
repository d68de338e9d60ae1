import { signal, useComputed } from '@preact/signals'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApprovalDecision, ApprovalRequest, JsonObject } from '../../contracts/index.ts'
import { exactLine, exactText } from '../../util/exact-text.ts'
import { requestSummary } from '../../view/index.ts'
import type { ReceiptDocument } from '../api/documents.ts'
import { LongText } from '../markdown/long-text.tsx'
import { decide } from '../state/actions.ts'
import { readOnly } from '../state/continuation.ts'
import { usePage } from '../state/page.ts'
import { ContinueThere } from '../ui/continue-there.tsx'
import { Diff } from '../ui/diff.tsx'
import { Fold } from '../ui/fold.tsx'
import { Icon } from '../ui/icon.tsx'
import { ApprovalActions } from './approval-actions.tsx'
import { ExactArguments } from './exact-arguments.tsx'
import { QuestionAnswer } from './question-answer.tsx'
import { commandOf, isFullyShown, requestRisks } from './request-risks.ts'

interface ApprovalCardProps {
  readonly sessionId: string
  readonly request: ApprovalRequest
}

const maxLabel = 300

/** A request that waits for a person. It goes when the request is answered, here or elsewhere. */
export function ApprovalCard({ sessionId, request }: ApprovalCardProps) {
  const page = usePage()
  const [state, setState] = useState<'open' | 'sending' | ReceiptDocument>('open')
  const there = readOnly(page, sessionId)
  const card = useRef<HTMLDivElement>(null)
  useReturnedFocus(card)
  const hasKeys = useFirstCard(card, request.id)
  const onDecide = (decision: ApprovalDecision): void => {
    // The focus would be lost with the control that is disabled.
    if (card.current?.contains(document.activeElement)) card.current.focus()
    setState('sending')
    void decide(page, sessionId, { id: request.id, decision }).then((receipt) => setState(receipt ?? 'open'))
  }
  const { question } = request
  const summary = question?.text ?? requestSummary(request)
  const command = question || request.diff !== undefined ? undefined : commandOf(request.input)
  // A command is shown once, below.
  const title = command !== undefined && summary === `Run ${command}` ? 'Run a command' : summary
  return (
    <div class="approval" ref={card} tabIndex={-1} data-request={request.id} data-moved={hasMoved.value ? '' : undefined}>
      <fieldset
        class="stack"
        disabled={state !== 'open' || !page.mayApprove.value || there !== undefined}
        aria-label={`${question ? 'Question' : 'Approval'}: ${exactText(summary.slice(0, maxLabel))}`}
      >
        <Heading sessionId={sessionId} request={request} title={title} />
        {!question && <Details request={request} />}
        {there ? undefined : !page.mayApprove.value ? (
          <p class="muted small">Your token cannot answer requests: it lacks the scope “approve”.</p>
        ) : question ? (
          <QuestionAnswer question={question} onDecide={onDecide} />
        ) : (
          <ApprovalActions request={request} onDecide={onDecide} hasKeys={hasKeys} />
        )}
      </fieldset>
      <div class="approval-sent muted small" role="status">
        {state === 'sending' ? 'Sending…' : state !== 'open' && <Sent {...state} />}
      </div>
    </div>
  )
}

/** An answer that nobody takes must not look like one that had an effect. */
const Sent = ({ driven, message = '', continue: there }: ReceiptDocument) =>
  driven ? 'Answer sent.' : <ContinueThere reason={message} {...(there?.command !== undefined && { command: there.command })} />

const movedMs = 600
/** A card has gone, and others are where it was: the second click of a double click must not answer one of them. */
const hasMoved = signal(false)
let movedTimer: ReturnType<typeof setTimeout> | undefined

function holdCards(): void {
  hasMoved.value = true
  clearTimeout(movedTimer)
  movedTimer = setTimeout(() => {
    hasMoved.value = false
  }, movedMs)
}

/** The request that the keys answer: the first one on the page. */
const firstRequest = signal<string | undefined>(undefined)

function useFirstCard(card: { readonly current: HTMLElement | null }, id: string): boolean {
  const isFirst = useComputed(() => firstRequest.value === id).value
  useLayoutEffect(() => {
    const look = (): void => {
      firstRequest.value = document.querySelector<HTMLElement>('#main .approval')?.dataset.request
    }
    look()
    // When it has gone.
    return () => queueMicrotask(look)
  }, [card])
  return isFirst
}

/** If the card goes while it has the focus, the next card gets it, or the message box. */
function useReturnedFocus(card: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const { current } = card
    return () => {
      holdCards()
      if (!current?.contains(document.activeElement)) return
      const others = [...document.querySelectorAll<HTMLElement>('.approval')].filter((each) => each !== current)
      const next = others[0] ?? document.querySelector<HTMLElement>('.composer textarea') ?? document.getElementById('main')
      next?.focus()
    }
  }, [card])
}

function Heading({ sessionId, request, title }: ApprovalCardProps & { readonly title: string }) {
  const page = usePage()
  const { agentPath, tool, reason, scope, question } = request
  const agent = page.sessions.value.find((each) => each.sessionId === sessionId)?.agent ?? 'root'
  const asker = exactLine(agentPath.replace(/^root(?=\/|$)/, agent).replaceAll('/', ' › '))
  return (
    <div class="approval-head">
      <span class="mark tone-warning">
        <Icon name={question ? 'question' : 'approval'} />
      </span>
      <div class="approval-words stack grow">
        <p class="approval-title">
          <LongText text={title} characters={2_000} isExact />
        </p>
        <p class="muted small">
          {asker} · <span class="mono">{exactLine(question?.from ?? tool)}</span>
        </p>
        {reason !== undefined && (
          <p class="approval-reason muted">
            “<LongText text={reason} characters={2_000} isExact />”
          </p>
        )}
        {scope === 'sampling' && <p class="small">The tool wants to send this request to a model.</p>}
      </div>
    </div>
  )
}

function Details({ request }: Pick<ApprovalCardProps, 'request'>) {
  const { input, diff, scope, inside } = request
  const command = diff === undefined ? commandOf(input) : undefined
  const isFolded = isFullyShown(request)
  return (
    <>
      <Risks request={request} />
      {scope === 'unsandboxed' && (
        <p class="tone-error">Outside the sandbox it has all permissions of the user account that runs the server.</p>
      )}
      {command !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre class="approval-command callout" tabIndex={0}>
          <span class="terminal-command" aria-hidden="true">
            ${' '}
          </span>
          <LongText text={command} characters={20_000} isExact />
        </pre>
      )}
      {diff !== undefined && <Diff diff={diff} />}
      {isFolded ? (
        <Fold class="approval-raw" line={<span class="muted">Exact arguments</span>}>
          {() => <ExactArguments input={input} />}
        </Fold>
      ) : (
        <ExactArguments input={command === undefined ? input : without(input, 'command')} />
      )}
      {inside && (
        <div class="approval-inside callout">
          <p class="muted small">It failed in the sandbox:</p>
          <p>
            <LongText text={inside.error.message} characters={2_000} isExact />
          </p>
          {inside.partial && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            <pre tabIndex={0}>
              <LongText text={inside.partial} characters={20_000} isExact />
            </pre>
          )}
        </div>
      )}
    </>
  )
}

const without = (input: JsonObject, name: string): JsonObject => Object.fromEntries(Object.entries(input).filter(([key]) => key !== name))

function Risks({ request }: Pick<ApprovalCardProps, 'request'>) {
  const risks = requestRisks(request)
  if (risks.length === 0) return null
  return (
    <ul class="approval-risks line plain-list" aria-label="Effects">
      {risks.map(({ kind, text }) => (
        <li key={text} class={`approval-risk approval-risk-${kind}`}>
          <Icon name={kind === 'place' ? 'file' : 'error'} />
          {exactLine(text.slice(0, maxLabel))}
        </li>
      ))}
    </ul>
  )
}
