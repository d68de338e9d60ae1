// Lives lives of a tree, one for each line that it is told, until it is killed in one of them.
//   in:  {"folder": …, "killAt": point, 0 = never, "how": kill, close or term}
//   out: {"points": [what was passed], "outcome": …, "events": […]}
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAgentRuntime } from '../../dist/index.js'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'
import { effectsIn, KillPoints, watched } from './kill-points.mjs'
import { agents, modelsWith, toolsWith } from './team.mjs'

for await (const line of createInterface({ input: process.stdin })) {
  const { folder, killAt, how } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify(await live(folder, new KillPoints(killAt, how)))}\n`)
}

async function live(folder, points) {
  const store = sqliteStore({ path: join(folder, 'data') })
  const runtime = createAgentRuntime({
    config: { agents, agentSelection: { agent: 'boss' }, tools: toolsWith(effectsIn(join(folder, 'effects.log'), points)) },
    adapter: modelsWith(points),
    approver: { decide: () => 'suspend' },
    store: watched(store, points),
  })
  points.close = () => void runtime.close()
  const outcome = await goOn(runtime, { store, treeFile: join(folder, 'tree') })
  const events = await store.journal.read(outcome.sessionId, 0)
  await runtime.close()
  await store.close()
  return { points: points.passed, outcome, events }
}

/** Whatever a person would do next: begin, answer what is asked, or take up what was left. */
async function goOn(runtime, { store, treeFile }) {
  const treeId = existsSync(treeFile) ? readFileSync(treeFile, 'utf8') : ''
  const before = treeId === '' ? [] : await store.journal.read(treeId, 0)
  if (before.length === 0) {
    const handle = runtime.stream('Do the work.')
    writeFileSync(treeFile, handle.sessionId)
    return handle.outcome
  }
  const stands = await runtime.sessions.outcome(treeId)
  if (stands.status !== 'suspended') return stands
  if (stands.reason === 'approval') {
    const { request } = before.findLast(({ type }) => type === 'interaction.approval.requested')
    await runtime.sessions.approve(treeId, { approvalId: request.id, decision: { kind: 'approve', breadth: 'once' } })
  }
  try {
    return await (await runtime.open(treeId)).outcome
  } catch (error) {
    // Closed while it answered: the next process goes on.
    if (error.code === 'runtime_closed') return stands
    throw error
  }
}
