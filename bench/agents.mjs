// How long it takes to find, read and check a thousand agent files with their schemas and children.
// node bench/agents.mjs [count], after npm run build.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { loadConfig, loadRegistry, nodeConfigFileSystem } from '../src/project/index.ts'

const count = Number(process.argv[2] ?? 1000)
const rounds = 5
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-bench-')))

try {
  writeProject()
  const times = []
  const before = process.cpuUsage()
  times.push(await load())
  const { user, system } = process.cpuUsage(before)
  const firstCpuMs = rounded((user + system) / 1000)
  for (let round = 1; round < rounds; round++) times.push(await load())
  const sorted = times.toSorted((a, b) => a - b)
  console.log(
    JSON.stringify({
      agents: count,
      firstMs: rounded(times[0]),
      firstCpuMs,
      medianMs: rounded(sorted[Math.floor(rounds / 2)]),
      perAgentUs: rounded((sorted[Math.floor(rounds / 2)] / count) * 1000),
    }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function load() {
  const begin = performance.now()
  const config = await loadConfig({
    places: { workingDirectory: folder, userFolder: join(folder, '.user'), systemFolder: join(folder, '.system') },
    files: nodeConfigFileSystem,
    trusted: new Map(),
  })
  const registry = await loadRegistry({
    roots: [],
    scope: 'everything',
    workingDirectory: folder,
    config,
    environment: {},
    trusted: new Map(),
  })
  const elapsed = performance.now() - begin
  if (!registry.ok || registry.agents.length !== count) throw new Error(JSON.stringify(registry.problems?.slice(0, 3)))
  return elapsed
}

/** Each with two schemas, limits and a prompt of some length; each tenth calls the nine after it. */
function writeProject() {
  mkdirSync(join(folder, 'agents'))
  writeFileSync(join(folder, '.ai-agent.json'), JSON.stringify({ agents: ['./agents'], defaults: { models: 'rehearsal' } }))
  for (let i = 0; i < count; i++) {
    const children = i % 10 === 0 ? Array.from({ length: 9 }, (_, k) => i + k + 1).filter((k) => k < count) : []
    writeFileSync(join(folder, 'agents', `agent-${i}.ai`), agentText(i, children))
  }
}

function agentText(i, children) {
  return `---
description: Researches company number ${i} and reports what it found
usage: company name or contact email
toolName: research.company-${i}
${children.length > 0 ? `agents: [${children.map((k) => `./agent-${k}.ai`).join(', ')}]\n` : ''}input:
  format: json
  schema:
    type: object
    properties:
      company: { type: string, minLength: 1 }
      depth: { type: integer, minimum: 1, maximum: 5 }
    required: [company]
output:
  format: json
  schema:
    type: object
    required: [company, insights]
    properties:
      company: { type: string }
      insights: { type: array, items: { type: string } }
limits: { maxToolTurns: 6, llmTimeout: 120000, toolTimeout: 60000, maxRetries: 2, parallelToolCalls: true }
---
${'You research companies. Look things up before you say anything about them, and name your sources.\n'.repeat(20)}`
}

function rounded(value) {
  return Math.round(value * 10) / 10
}
