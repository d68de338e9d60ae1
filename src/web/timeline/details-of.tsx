import type { AgentLimits, Cost, ToolFailure, Usage } from '../../contracts/index.ts'
import {
  type AgentNode,
  type AttemptNode,
  type CallNode,
  decidedText,
  duration,
  grouped,
  plural,
  price,
  type RequestNode,
  reasonText,
  type StepNode,
  size,
  type TurnNode,
} from '../../view/index.ts'
import { noteText } from '../conversation/note-text.ts'
import { Diff } from '../ui/diff.tsx'
import { type Fact, Facts } from '../ui/facts.tsx'
import { Section } from './details-section.tsx'
import { inputText, type RowFacts } from './row-facts.ts'
import type { Operation } from './rows.ts'

export function detailsOf(of: Operation, facts: RowFacts) {
  switch (of.kind) {
    case 'agent':
      return <AgentDetails agent={of.agent} facts={facts} />
    case 'turn':
      return <TurnDetails agent={of.agent} turn={of.turn} facts={facts} />
    case 'step':
      return <StepDetails step={of.step} facts={facts} />
    case 'attempt':
      return <AttemptDetails attempt={of.attempt} />
    case 'call':
      return <CallDetails call={of.call} facts={facts} />
    case 'request':
      return <RequestDetails request={of.request} facts={facts} />
    default:
      return of satisfies never
  }
}

function AgentDetails({ agent, facts }: { readonly agent: AgentNode; readonly facts: RowFacts }) {
  const { spec, turns, path, forkedFrom } = agent
  return (
    <>
      <Facts
        class="timeline-facts"
        facts={[
          ...timesOf(facts),
          ['Path', path],
          ['Models', spec?.models.join(', ')],
          ['Turns', grouped(turns.length)],
          ...spentFacts(facts.spent?.usage, facts.spent?.cost),
          ['Limits', limitsText(spec?.limits)],
          ['Copy of', forkedFrom],
        ]}
      />
      <Section name="Role" text={spec?.description} />
    </>
  )
}

function TurnDetails({ agent, turn, facts }: { readonly agent: AgentNode; readonly turn: TurnNode; readonly facts: RowFacts }) {
  const { totals, reason, waits, ending, report } = turn
  const failed = ending?.status === 'failed' ? ending : undefined
  return (
    <>
      {failed && <Section name="Error" tone="error" text={[failed.message, failed.remedy].filter(Boolean).join(' ')} />}
      <Facts
        class="timeline-facts"
        facts={[
          ...timesOf(facts),
          ['Ended because', ending && !failed && reason ? reasonText[reason] : undefined],
          ['Waits for', waits?.needs],
          ['Work', totals && `${plural(totals.steps, 'step')}, ${plural(totals.calls, 'call')}`],
          ...spentFacts(facts.spent?.usage, facts.spent?.cost),
          ['Limits', limitsText(agent.spec?.limits)],
        ]}
      />
      <Section name="Message" text={inputText(agent, turn)} />
      <Section name="Answer" text={report?.text} />
    </>
  )
}

function StepDetails({ step, facts }: { readonly step: StepNode; readonly facts: RowFacts }) {
  const { attempts, rejected, last, texts } = step
  return (
    <>
      {rejected && <Section name="Rejected" tone="error" text={rejected.problems.join('\n')} />}
      <Facts
        class="timeline-facts"
        facts={[
          ...timesOf(facts),
          ['Model', attempts.at(-1)?.modelId],
          ...spentFacts(facts.spent?.usage, facts.spent?.cost),
          ['Last step', last && reasonText[last]],
        ]}
      />
      {attempts.some(({ failure }) => failure) && (
        <Section name="Attempts">
          <ol class="timeline-attempts">
            {attempts.map((attempt, i) => (
              <li key={i}>{attemptText(attempt)}</li>
            ))}
          </ol>
        </Section>
      )}
      {texts.map(({ id, type, text }) => (
        <Section key={id} name={type === 'reasoning' ? 'Reasoning' : 'Text'} text={text} />
      ))}
    </>
  )
}

function attemptText({ modelId, latencyMs, failure, nextAt, span }: AttemptNode): string {
  const result = failure ? `${failure.class}: ${failure.message}` : latencyMs === undefined ? 'running' : 'answered'
  const wait = nextAt === undefined ? '' : `, next attempt after ${duration(nextAt - span.to)}`
  return `${modelId}, ${latencyMs === undefined ? '' : `${duration(latencyMs)}, `}${result}${wait}`
}

function AttemptDetails({ attempt }: { readonly attempt: AttemptNode }) {
  const { failure, modelId, latencyMs, nextAt, span, usage, cost } = attempt
  return (
    <>
      <Failure failure={failure} />
      <Facts
        class="timeline-facts"
        facts={[
          ['Started', clockTime(span.from)],
          ['Latency', latencyMs === undefined ? undefined : duration(latencyMs)],
          ['Model', modelId],
          ['Next attempt', nextAt === undefined ? undefined : `after ${duration(nextAt - span.to)}`],
          ...spentFacts(usage, cost),
        ]}
      />
    </>
  )
}

function CallDetails({ call, facts }: { readonly call: CallNode; readonly facts: RowFacts }) {
  const { error, input, content, output, changes = [], stored, hooks, exitCode, bytesIn, bytesOut } = call
  return (
    <>
      <Failure failure={error} />
      <Section name="Input" text={input && JSON.stringify(input, null, 2)} />
      {changes.map((change, index) => (
        <Section key={`${index} ${change.path}`} name={change.kind || 'Change'}>
          <p class="timeline-path mono">
            {change.path} <span class="muted">{`+${change.added} −${change.removed}`}</span>
          </p>
          {change.diff !== '' && <Diff diff={change.diff} />}
        </Section>
      ))}
      <Section name="Output" text={error && changes.length === 0 ? undefined : (content ?? output)} />
      <Facts
        class="timeline-facts"
        facts={[
          ...timesOf(facts),
          ['Tool', call.tool === call.name ? undefined : call.tool],
          ['Reason', call.reason],
          ['Exit code', exitCode === undefined ? undefined : String(exitCode)],
          ...call.asked.map((request): Fact => ['Approval', answerText(request)]),
          ['Permission', call.asked.length === 0 && call.permit?.kind === 'approved' ? decidedText('approved', call.permit.by) : undefined],
          ['Answer', call.permit?.kind === 'answered' ? call.permit.text : undefined],
          ['Sandbox', sandboxText(call)],
          ['Queue', call.inQueue?.queue],
          ['Size', bytesIn === undefined ? undefined : `${size(bytesIn)} in, ${size(bytesOut ?? 0)} out`],
          ['Full output', stored && `${size(stored.bytes)}, stored as ${stored.handle}`],
          ...spentFacts(facts.spent?.usage, facts.spent?.cost),
          ['Hooks', hooks.map(noteText).join('; ')],
        ]}
      />
    </>
  )
}

function sandboxText({ sandbox }: CallNode): string | undefined {
  switch (sandbox.kind) {
    case 'inside':
      return undefined
    case 'asking':
      return 'asks to run outside'
    default:
      return `outside, ${decidedText('approved', sandbox.by)}`
  }
}

function answerText({ answer, at, summary }: RequestNode): string {
  if (!answer) return `${summary}: open`
  const verbs = { approve: 'approved', answer: 'answered', deny: 'denied', abort: 'denied, run ended' } as const
  return `${summary}: ${verbs[answer.decision.kind]} by ${answer.by} after ${duration(answer.at - at)}`
}

function RequestDetails({ request, facts }: { readonly request: RequestNode; readonly facts: RowFacts }) {
  const { summary, reason, request: asked } = request
  return (
    <>
      <Section name="Request" text={summary} />
      <Section name="Input" text={asked && JSON.stringify(asked.input, null, 2)} />
      {asked?.diff && (
        <Section name="Change">
          <Diff diff={asked.diff} />
        </Section>
      )}
      <Facts class="timeline-facts" facts={[...timesOf(facts), ['Reason', reason]]} />
    </>
  )
}

function Failure({ failure }: { readonly failure: (Pick<ToolFailure, 'message' | 'remedy'> & { readonly class: string }) | undefined }) {
  if (!failure) return null
  return <Section name="Error" tone="error" text={`${failure.class}: ${failure.message}${failure.remedy ? `\n${failure.remedy}` : ''}`} />
}

/** In the time zone of the reader. */
const clockTime = (at: number): string => {
  const time = new Date(at)
  return `${time.toLocaleTimeString([], { hourCycle: 'h23' })}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

function timesOf({ segments }: RowFacts): readonly Fact[] {
  const first = segments[0]
  const last = segments.at(-1)
  const waited = (kind: string): string | undefined => {
    const ms = segments.reduce((sum, each) => (each.kind === kind ? sum + each.to - each.from : sum), 0)
    return ms < 1 ? undefined : duration(ms)
  }
  return [
    ['Started', first && clockTime(Math.min(...segments.map(({ from }) => from)))],
    ['Ended', last && !segments.some(({ isOpen }) => isOpen) ? clockTime(Math.max(...segments.map(({ to }) => to))) : undefined],
    ['Approval wait', waited('approval')],
    ['Queue wait', waited('queue')],
  ]
}

function spentFacts(usage: Usage | undefined, cost: Cost | undefined): readonly Fact[] {
  if (!usage || usage.input + usage.output === 0) return []
  const { input, output, cacheRead, cacheWrite, reasoning, estimated } = usage
  const parts = [
    `${estimated ? '~' : ''}${grouped(input)} in`,
    `${grouped(output)} out`,
    cacheRead > 0 ? `${grouped(cacheRead)} from cache` : '',
    cacheWrite > 0 ? `${grouped(cacheWrite)} to cache` : '',
    reasoning > 0 ? `${grouped(reasoning)} reasoning` : '',
  ]
  return [
    ['Tokens', parts.filter(Boolean).join(', ')],
    ['Cost', cost === undefined ? undefined : cost === 0 ? 'free' : cost === 'unknown' ? cost : price(cost)],
  ]
}

function limitsText(limits: AgentLimits | undefined): string | undefined {
  if (!limits) return undefined
  const { maxToolTurns, maxTokens, maxCostUsd, timeBudget } = limits
  const parts = [
    plural(maxToolTurns, 'step'),
    maxTokens === undefined ? '' : `${grouped(maxTokens)} tokens`,
    maxCostUsd === undefined ? '' : `$${maxCostUsd}`,
    timeBudget === undefined ? '' : duration(timeBudget),
  ]
  return parts.filter(Boolean).join(', ')
}
