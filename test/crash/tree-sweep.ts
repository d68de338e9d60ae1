import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Life, SubjectProcess, wasStopped } from './subject-process.ts'
import { judgeTree, type TreeVerdict } from './tree-verdict.ts'
import type { Stop } from './wrong-ends.ts'

/** At which point each process is killed, one after the other; 0 is not at all. */
export type Plan = readonly number[]

export interface TreeRun {
  readonly plan: Plan
  readonly lives: readonly Life[]
  readonly kills: number
  readonly verdict: TreeVerdict
}

/** More lives than this after the last kill, and the tree never comes to an end. */
const mostFurtherLives = 3

/** Runs all plans, each over a tree of its own. `how`: what happens at their points. */
export async function sweep(plans: readonly Plan[], how: Stop = 'kill'): Promise<readonly TreeRun[]> {
  const runs: TreeRun[] = []
  const left = [...plans.entries()]
  const worker = async () => {
    // Two, used in turn: nobody goes on with a tree that it has held before it.
    const processes = [new SubjectProcess('tree-subject.mjs'), new SubjectProcess('tree-subject.mjs')] as const
    try {
      for (let next = left.shift(); next; next = left.shift()) {
        const [index, plan] = next
        runs[index] = await run(plan, processes, how)
      }
    } finally {
      for (const each of processes) each.end()
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return runs
}

async function run(plan: Plan, processes: readonly [SubjectProcess, SubjectProcess], how: Stop): Promise<TreeRun> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-crash-tree-'))
  try {
    const lives: Life[] = []
    while (lives.length < plan.length + mostFurtherLives && !isOver(lives.at(-1))) {
      lives.push(await processes[lives.length % 2 === 0 ? 0 : 1].live(folder, plan[lives.length] ?? 0, how))
    }
    const kills = lives.filter(wasStopped).length
    return { plan, lives, kills, verdict: judgeTree(join(folder, 'effects.log'), lives) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const isOver = (life: Life | undefined): boolean => life?.kind === 'ended' && life.outcome.status !== 'suspended'
