import { answeredText, type Cost, type Usage } from '../../contracts/index.ts'
import { turnEndTexts } from '../../policy/limit-texts.ts'
import { plural } from '../../util/plural.ts'
import { type CallNode, decidedText, duration, failedInside, grouped, price, type RequestNode, size } from '../../view/index.ts'
import { limitFacts } from '../ui/agent-facts.ts'
import type { Fact } from '../ui/facts.tsx'
import { noteText } from '../ui/note-text.ts'
import { inputText, type RowFacts } from './row-facts.ts'
import type { Operation } from './rows.ts'

export interface DetailSection {
  readonly name: string
  /** Without a text and a diff, it is not shown. */
  readonly text?: string | undefined
  readonly diff?: string | undefined
}

interface RowDetails {
  readonly error?: string | undefined
  readonly sections: readonly DetailSection[]
  readonly facts: readonly Fact[]
}

/** Everything that is known about an operation. */
export function detailsOf(of: Operation, facts: RowFacts): RowDetails {
  const { error, sections, facts: own } = ownDetails(of)
  const notes = { name: 'Notes', text: facts.notes.map(noteText).join('\n') }
  const spent = of.kind === 'attempt' ? spentFacts(of.attempt.usage, of.attempt.cost) : spentFacts(facts.spent?.usage, facts.spent?.cost)
  return { error, sections: [...sections, notes], facts: [...timesOf(facts), ...own, ...spent] }
}

function ownDetails(of: Operation): RowDetails {
  switch (of.kind) {
    case 'agent': {
      const { spec, turns, path, forkedFrom } = of.agent
      return {
        sections: [
          { name: 'Task', text: of.agent.task },
          { name: 'Role', text: spec?.description },
        ],
        facts: [
          ['Path', path],
          ['Models', spec?.models.join(', ')],
          ['Turns', grouped(turns.length)],
          ['Copy of', forkedFrom],
          ...(spec ? limitFacts(spec.limits) : []),
        ],
      }
    }
    case 'turn': {
      const { totals, reason, waits, ending, report } = of.turn
      const failed = ending?.status === 'failed' ? ending : undefined
      return {
        error: failed && [failed.message, failed.remedy].filter(Boolean).join(' '),
        sections: [
          { name: 'Message', text: inputText(of.agent, of.turn) },
          { name: 'Answer', text: report?.text },
        ],
        facts: [
          ['Ended because', ending && !failed && reason ? turnEndTexts[reason].status : undefined],
          ['Waits for', waits?.needs],
          ['Work', totals && `${plural(totals.steps, 'step')}, ${plural(totals.calls, 'call')}`],
        ],
      }
    }
    case 'step': {
      const { attempts, rejected, last, texts, calls } = of.step
      return {
        error: rejected?.problems.join('\n'),
        sections: [
          ...texts.map(({ type, text }) => ({ name: type === 'reasoning' ? 'Reasoning' : 'Text', text })),
          ...calls.map(({ tool, input }) => ({
            name: 'Call',
            text: [tool, input && JSON.stringify(input, null, 2)].filter(Boolean).join(' '),
          })),
        ],
        facts: [
          ['Step', `${of.step.number} of turn ${of.turn.number}`],
          ['Model', attempts.at(-1)?.modelId],
          ['Last step', last && turnEndTexts[last].status],
        ],
      }
    }
    case 'attempt': {
      const { failure, modelId, nextAt, span } = of.attempt
      return {
        error: failureText(failure),
        sections: [],
        facts: [
          ['Model', modelId],
          ['Next attempt', nextAt && `after ${duration(nextAt - span.to)}`],
        ],
      }
    }
    case 'call':
      return callDetails(of.call)
    case 'request': {
      const { summary, reason, request } = of.request
      return {
        sections: [
          { name: 'Request', text: summary },
          { name: 'Input', text: request && JSON.stringify(request.input, null, 2) },
          { name: 'Change', diff: request?.diff },
        ],
        facts: [['Reason', reason]],
      }
    }
  }
}

function callDetails(call: CallNode): RowDetails {
  const { error, input, content, output, changes = [], stored, hooks, exitCode, bytesIn, bytesOut, asked, permit, child } = call
  const failed = failedInside(call)
  return {
    error: failureText(error),
    sections: [
      { name: 'Task', text: child?.task },
      { name: 'Input', text: child?.task ? undefined : input && JSON.stringify(input, null, 2) },
      ...changes.map(({ kind, path, added, removed, diff }) => ({ name: kind || 'Change', text: `${path} +${added} −${removed}`, diff })),
      { name: child ? 'Result' : 'Output', text: error && changes.length === 0 ? undefined : (content ?? output) },
    ],
    facts: [
      ['Tool', call.tool === call.name ? undefined : call.tool],
      ['Reason', call.reason],
      ['Failed inside', failed > 0 ? grouped(failed) : undefined],
      ['Exit code', exitCode?.toString()],
      ...asked.map((request): Fact => ['Approval', answerText(request)]),
      ['Permission', asked.length === 0 && permit?.kind === 'approved' ? decidedText('approved', permit.by) : undefined],
      ['Answer', permit?.kind === 'answered' ? permit.text : undefined],
      ['Sandbox', sandboxText(call)],
      ['Queue', call.inQueue?.queue],
      ['Size', bytesIn === undefined ? undefined : `${size(bytesIn)} in, ${size(bytesOut ?? 0)} out`],
      ['Full output', stored && `${size(stored.bytes)}, stored as ${stored.handle}`],
      ['Hooks', hooks.map(noteText).join('; ')],
    ],
  }
}

const sandboxText = ({ sandbox }: CallNode): string | undefined =>
  'by' in sandbox ? `outside, ${decidedText('approved', sandbox.by)}` : sandbox.kind === 'asking' ? 'asks to run outside' : undefined

function answerText({ answer, at, summary }: RequestNode): string {
  if (!answer) return `${summary}: open`
  return `${summary}: ${answeredText(answer)} after ${duration(answer.at - at)}`
}

type Failure = { readonly class: string; readonly message: string; readonly remedy?: string } | undefined

const failureText = (failure: Failure): string | undefined =>
  failure && `${failure.class}: ${failure.message}${failure.remedy ? `\n${failure.remedy}` : ''}`

/** In the time zone of the reader. */
const clockTime = (at: number): string => {
  const time = new Date(at)
  return `${time.toLocaleTimeString([], { hourCycle: 'h23' })}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

function timesOf({ segments }: RowFacts): readonly Fact[] {
  if (segments.length === 0) return []
  const waited = (kind: string): string | undefined => {
    const ms = segments.reduce((sum, each) => (each.kind === kind ? sum + each.to - each.from : sum), 0)
    return ms < 1 ? undefined : duration(ms)
  }
  const isOpen = segments.some((segment) => segment.isOpen)
  return [
    ['Started', clockTime(Math.min(...segments.map(({ from }) => from)))],
    ['Ended', isOpen ? undefined : clockTime(Math.max(...segments.map(({ to }) => to)))],
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
    ['Tokens', parts.filter(Boolean).join(' · ')],
    ['Cost', cost === undefined ? undefined : cost === 0 ? 'free' : cost === 'unknown' ? cost : price(cost)],
  ]
}
