import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import { type Stop, wrongEnds } from './wrong-ends.ts'

// Kills real processes, lets others go on, and compares what happened with what is on record.

const subject = fileURLToPath(new URL('subject.mjs', import.meta.url))

export interface Life {
  /** Or stopped cleanly. */
  readonly killed: boolean
  readonly points: number
  readonly outcome?: Outcome
  readonly events?: readonly InteractionEvent[]
}

export interface Verdict {
  readonly repeated: readonly string[]
  readonly lost: readonly string[]
  readonly unknown: readonly string[]
  /** Anything else that is wrong, in words. */
  readonly wrong: readonly string[]
}

/** Lives one life after the other in one folder, each stopped at its point, the last one not. */
export async function liveThrough(crashes: readonly number[], how: Stop = 'kill'): Promise<{ lives: readonly Life[]; verdict: Verdict }> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-crash-'))
  try {
    const lives: Life[] = []
    for (const [index, crashAt] of [...crashes, 0].entries())
      lives.push(await live(folder, index === 0 ? 'start' : 'resume', { crashAt, how }))
    return { lives, verdict: judge(folder, lives) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function live(folder: string, mode: 'start' | 'resume', { crashAt, how }: { crashAt: number; how: Stop }): Promise<Life> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [subject, folder, mode, String(crashAt), how], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') return resolve({ killed: true, points: crashAt })
      if (code !== 0) return reject(new Error(`the subject ended with ${code ?? signal} (${mode}, crash at ${crashAt}): ${errors}`))
      const life = JSON.parse(out) as Required<Omit<Life, 'killed'>>
      resolve({ ...life, killed: life.outcome.reason === 'released' })
    })
  })
}

const writes = ['w-1', 'w-2', 'w-3', 'w-4', 'w-5', 'w-6', 'k-1', 'k-2', 'm-1']

function judge(folder: string, lives: readonly Life[]): Verdict {
  const { outcome, events } = lives.at(-1) ?? {}
  if (!outcome || !events) return { repeated: [], lost: [], unknown: [], wrong: ['the last life did not end by itself'] }
  const file = join(folder, 'effects.log')
  const effects = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const times = (token: string) => effects.filter((line) => line === token).length
  const status = statuses(events)
  const unknown = writes.filter((token) => status.get(token) === 'unknown')
  const flagged = outcome.diagnostics.filter((diagnostic) => diagnostic.code === 'call_unknown').length
  return {
    repeated: writes.filter((token) => times(token) > 1),
    lost: writes.filter((token) => times(token) === 0 && status.get(token) !== 'unknown'),
    unknown,
    wrong: [
      ...(flagged === unknown.length ? [] : [`${unknown.length} unknown, ${flagged} flagged`]),
      ...(outcome.status === 'completed' && outcome.report?.text === 'All done.'
        ? []
        : [`ended ${outcome.status}: ${outcome.message ?? outcome.report?.text}`]),
      ...(new Set(effects.filter((line) => line.startsWith('i-1'))).size === 1
        ? []
        : ['the idempotent call ran under several ids, or never']),
      ...(times('r-1') >= 1 ? [] : ['the read call never ran']),
      ...shape(events),
      ...wrongEnds(events),
    ],
  }
}

function statuses(events: readonly InteractionEvent[]): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>()
  const found = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'interaction.item.started' && event.item.kind === 'call') tokens.set(event.item.id, String(event.item.input.token))
    if (event.type === 'interaction.item.completed') found.set(tokens.get(event.item.id) ?? event.item.id, event.item.status)
  }
  return found
}

/** Gap-free numbers, everything that began has ended once, nothing after the end. */
function shape(events: readonly InteractionEvent[]): readonly string[] {
  const wrong: string[] = []
  const open = new Set<string>()
  const ended = new Set<string>()
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) wrong.push(`seq ${event.seq} stands at place ${index + 1}`)
    if (event.type === 'interaction.item.started') open.add(event.item.id)
    if (event.type === 'interaction.item.completed') {
      if (!open.delete(event.item.id) || ended.has(event.item.id)) wrong.push(`item ${event.item.id} ended twice, or never began`)
      ended.add(event.item.id)
    }
  }
  if (open.size > 0) wrong.push(`never ended: ${[...open].join(', ')}`)
  const ends = events.filter((event) => event.type === 'interaction.turn.completed').length
  if (ends !== 1) wrong.push(`the turn ended ${ends} times`)
  return wrong
}
