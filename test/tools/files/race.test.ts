import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { putFiles, scene } from './scene.ts'

/** Swaps a folder for a link and back, again and again, while the tools work on it. */
const swapper = `
const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs')
const { parentPort, workerData: { folder, aside, target, times } } = require('node:worker_threads')
// While the folder is away, a tool may make it anew: that is inside, and in the way.
const insist = (act) => {
  for (let tries = 0; ; tries++) {
    try {
      return act()
    } catch (error) {
      if (tries > 1000) throw error
      try {
        rmSync(folder, { recursive: true, force: true })
      } catch {
        // Filled again meanwhile; the next try takes that, too.
      }
    }
  }
}
try {
  for (let count = 0; count < times; count++) {
    renameSync(folder, aside)
    insist(() => symlinkSync(target, folder))
    unlinkSync(folder)
    insist(() => renameSync(aside, folder))
  }
} catch (error) {
  parentPort.postMessage(String(error))
}
`

const times = 2_500

it(`leads nowhere: ${times} swaps of a folder for a link while it is read, listed, changed and written`, async () => {
  const there = scene({ 'sub/a.txt': 'inside\n' })
  putFiles(there.base, { 'outside/a.txt': 'SECRET\n' })
  const workerData = { folder: join(there.root, 'sub'), aside: join(there.root, 'aside'), target: join(there.base, 'outside'), times }
  mkdirSync(join(there.root, 'other'))
  const worker = new Worker(swapper, { eval: true, workerData })
  const problems: unknown[] = []
  worker.on('message', (problem) => problems.push(problem))
  let isOver = false
  const over = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
    isOver = true
  })
  const counts = { ok: 0, refused: 0 }
  const seen: string[] = []
  for (let round = 0; !isOver; round++) {
    const outputs = await Promise.all([
      there.call('read_file', { path: 'sub/a.txt' }),
      there.call('write_file', { path: `sub/b${round % 3}.txt`, content: `GONE ${round}` }),
      there.call('edit_file', { path: 'sub/a.txt', old: 'inside', new: `inside${round % 2 ? '' : ' '}` }),
      there.call('apply_patch', { patch: `*** Begin Patch\n*** Add File: sub/c/d${round}.txt\n+GONE\n*** End Patch` }),
      there.call('list_files', { path: 'sub' }),
    ])
    for (const output of outputs) {
      counts[output.ok ? 'ok' : 'refused']++
      if (JSON.stringify(output).includes('SECRET')) seen.push(JSON.stringify(output))
    }
  }
  await over
  expect({ problems, seen, outside: readdirSync(join(there.base, 'outside')) }).toEqual({ problems: [], seen: [], outside: ['a.txt'] })
  // Both ways were taken, or the race would have shown nothing.
  expect(Math.min(counts.ok, counts.refused)).toBeGreaterThan(0)
  expect(there.paths().filter((path) => path.endsWith('.tmp'))).toEqual([])
})
