import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { createDatabase } from '../postgres/server.ts'
import { type Life, SubjectProcess, wasStopped } from './subject-process.ts'
import type { Stop } from './wrong-ends.ts'

// Kills real processes, lets others continue their session, and compares what happened with what is on record. `npm run test:postgres`
// does so with a database for each run.

export const isFull = Boolean(process.env.TROUPE_FULL)

/** At which point each process is killed, one after the other; 0 is not at all. */
export type Plan = readonly number[]

export interface Verdict {
  readonly repeated: readonly string[]
  readonly lost: readonly string[]
  readonly unknown: readonly string[]
  /** Anything else that is wrong, in words. */
  readonly wrong: readonly string[]
}
export const faultless: Verdict = { repeated: [], lost: [], unknown: [], wrong: [] }

export interface Run {
  readonly plan: Plan
  readonly lives: readonly Life[]
  readonly kills: number
  readonly verdict: Verdict
}

export interface Subject {
  /** The file beside this one that the processes run. */
  readonly file: string
  readonly args?: readonly string[]
  /** More lives than this after the last kill, and the session never comes to an end. */
  readonly mostFurtherLives: number
  judge(effectsFile: string, lives: readonly Life[]): Verdict
  /** What a person does between two processes. */
  between?(folder: string): Promise<void>
}

/** Runs all plans, each over a session of its own. `how`: what happens at their points. */
export async function sweep(subject: Subject, plans: readonly Plan[], how: Stop = 'kill'): Promise<readonly Run[]> {
  const runs: Run[] = []
  const left = [...plans.entries()]
  const worker = async () => {
    // Two, used in turn: no process continues a session that it has held before.
    const processes = [new SubjectProcess(subject.file, subject.args), new SubjectProcess(subject.file, subject.args)] as const
    try {
      for (let next = left.shift(); next; next = left.shift()) runs[next[0]] = await run(subject, next[1], { processes, how })
    } finally {
      for (const each of processes) each.end()
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return runs
}

interface Means {
  readonly processes: readonly [SubjectProcess, SubjectProcess]
  readonly how: Stop
}

async function run(subject: Subject, plan: Plan, { processes, how }: Means): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-crash-'))
  const server = inject('postgresServer')
  const database = server === undefined ? undefined : await createDatabase(server)
  try {
    if (database) writeFileSync(storeFileOf(folder), database.url)
    const lives: Life[] = []
    while (lives.length < plan.length + subject.mostFurtherLives && !isOver(lives.at(-1))) {
      lives.push(await processes[lives.length % 2 === 0 ? 0 : 1].live(folder, plan[lives.length] ?? 0, how))
      await subject.between?.(folder)
    }
    const verdict = subject.judge(join(folder, 'effects.log'), lives)
    const last = lives.at(-1)
    const wrong = [...verdict.wrong, ...(last?.kind === 'ended' ? last.wrongRecords : [])]
    return { plan, lives, kills: lives.filter(wasStopped).length, verdict: { ...verdict, wrong } }
  } finally {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

// The processes find the store in the same way, in `sweep-store.mjs`.
const storeFileOf = (folder: string): string => join(folder, 'store-url')

/** The store of a run, for what a person does between two processes. */
export function storeOf(folder: string): Promise<Store> {
  const file = storeFileOf(folder)
  return openStore(existsSync(file) ? readFileSync(file, 'utf8') : `sqlite:${join(folder, 'data')}`)
}

const isOver = (life: Life | undefined): boolean => life?.kind === 'ended' && life.outcome.status !== 'suspended'

export const everyNth = <T>(list: readonly T[], nth: number, first = 0): readonly T[] => list.filter((_, index) => index % nth === first)

/** The points of each life of a run in which nothing is killed. */
export const pointsOf = (calm: Run | undefined): readonly (readonly string[])[] =>
  (calm?.lives ?? []).map((life) => (life.kind === 'ended' ? life.points : []))

/** One plan for each point: the processes before it come to rest by themselves. */
export const everyPoint = (lives: readonly (readonly string[])[]): readonly Plan[] =>
  lives.flatMap((points, life) => points.map((_, index) => [...Array.from({ length: life }, () => 0), index + 1]))

/** Prints the counts, and expects that nothing was lost or repeated, and that enough processes were stopped. */
export function expectNothingLost(name: string, runs: readonly Run[]): void {
  const count = (key: keyof Verdict) => runs.reduce((sum, { verdict }) => sum + verdict[key].length, 0)
  const kills = runs.reduce((sum, each) => sum + each.kills, 0)
  console.log(
    `crash sweep (${name}): ${runs.length} runs, ${kills} kills, ${count('repeated')} repeated, ${count('lost')} lost, ${count('unknown')} unknown, all flagged`,
  )
  const bad = runs.filter(({ verdict: { repeated, lost, wrong } }) => repeated.length + lost.length + wrong.length > 0)
  expect(bad.map(({ plan, verdict }) => ({ plan, ...verdict }))).toEqual([])
  // Batches differ a little from life to life, and a clean stop comes too late for a session that ends meanwhile.
  expect(kills).toBeGreaterThanOrEqual(runs.length * (/close|term/.test(name) ? 0.5 : 0.9))
}

export const unknownIn = (runs: readonly Run[]): number => runs.reduce((sum, { verdict }) => sum + verdict.unknown.length, 0)
