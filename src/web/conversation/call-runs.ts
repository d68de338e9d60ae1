import { plural } from '../../util/plural.ts'
import type { CallNode, StepNode } from '../../view/index.ts'
import { callStatus } from '../ui/call-status.ts'
import type { ShownStep, StepPart } from './conversation-items.ts'
import { personWords } from './person-words.ts'

// Many calls in a row are one line: `Read 225 files, 75 searches`.

/** A step, or steps in a row in which nothing but calls happened. */
type TurnPart =
  | { readonly kind: 'step'; readonly shown: ShownStep }
  | { readonly kind: 'run'; readonly id: string; readonly steps: readonly ShownStep[]; readonly calls: readonly CallNode[] }

/** Fewer calls are shown themselves. */
const leastFolded = 4

export function turnParts(shown: readonly ShownStep[], isFoldable: (step: StepNode) => boolean): readonly TurnPart[] {
  const parts: TurnPart[] = []
  let run: ShownStep[] = []
  const close = (): void => {
    const calls = run.flatMap(({ step }) => step.calls)
    const [first] = run
    if (first && calls.length >= leastFolded) parts.push({ kind: 'run', id: `${first.step.id}/run`, steps: run, calls })
    else parts.push(...run.map((each) => ({ kind: 'step', shown: each }) as const))
    run = []
  }
  for (const each of shown) {
    if (isFoldable(each.step)) run.push(each)
    else {
      close()
      parts.push({ kind: 'step', shown: each })
    }
  }
  close()
  return parts
}

/** Parts of a step, with its calls in a row as one of them. */
export function foldedParts(parts: readonly StepPart[]): readonly (StepPart | CallsPart)[] {
  const folded: (StepPart | CallsPart)[] = []
  let run: Extract<StepPart, { kind: 'call' }>[] = []
  const close = (): void => {
    const [first] = run
    if (
      first &&
      run.length >= leastFolded &&
      run.every(({ call }) => call.status !== 'running' && call.status !== 'waiting' && !personWords(call))
    )
      folded.push({ kind: 'calls', id: `${first.id}/run`, calls: run.map(({ call }) => call) })
    else folded.push(...run)
    run = []
  }
  for (const part of parts) {
    if (part.kind === 'call') run.push(part)
    else {
      close()
      folded.push(part)
    }
  }
  close()
  return folded
}

interface CallsPart {
  readonly kind: 'calls'
  readonly id: string
  readonly calls: readonly CallNode[]
}

/** By tool: what is said of so many calls. */
const words = new Map<string, (count: number) => string>(
  Object.entries({
    read_file: (count: number) => `read ${plural(count, 'file')}`,
    list_files: (count: number) => `listed ${plural(count, 'folder')}`,
    search_files: (count: number) => plural(count, 'search', 'searches'),
    write_file: (count: number) => `wrote ${plural(count, 'file')}`,
    edit_file: (count: number) => plural(count, 'edit'),
    apply_patch: (count: number) => plural(count, 'patch', 'patches'),
    shell: (count: number) => plural(count, 'command'),
    web_fetch: (count: number) => `fetched ${plural(count, 'page')}`,
  }),
)

const maxKinds = 4

/** `Read 225 files, 75 searches`, most frequent first. */
export function callsText(calls: readonly CallNode[]): string {
  const counts = new Map<string, { readonly tool: string; count: number }>()
  for (const { tool, name } of calls) {
    const known = counts.get(name) ?? { tool, count: 0 }
    known.count++
    counts.set(name, known)
  }
  const kinds = [...counts].toSorted(([, a], [, b]) => b.count - a.count)
  const said = kinds
    .slice(0, maxKinds)
    .map(([name, { tool, count }]) => words.get(tool)?.(count) ?? (count === 1 ? name : `${count} × ${name}`))
  const rest = kinds.slice(maxKinds).reduce((sum, [, { count }]) => sum + count, 0)
  const text = [...said, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** From the start of the first to the end of the last. */
export function callsMs(calls: readonly CallNode[]): number {
  const from = calls.reduce((first, { span }) => Math.min(first, span.from), Number.POSITIVE_INFINITY)
  return Math.max(0, calls.reduce((last, { span }) => Math.max(last, span.to), 0) - from)
}

const failures: readonly string[] = ['failed', 'declined', 'unknown']

export const failedOf = (calls: readonly CallNode[]): number => calls.filter((call) => failures.includes(callStatus(call))).length

/** The first call that failed in the agents of a call, at any depth. */
export function firstFailure(call: CallNode): CallNode | undefined {
  const agents = [...(call.earlier ?? []), ...(call.child ? [call.child] : [])]
  for (const { turns } of agents)
    for (const { steps } of turns)
      for (const { calls } of steps)
        for (const each of calls) {
          const inside = firstFailure(each)
          if (inside) return inside
          if (failures.includes(callStatus(each))) return each
        }
  return undefined
}
