import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { nodeConfigFileSystem, readFileStates, trustFiles } from '../../src/project/index.ts'
import { loadProject } from '../../src/project/load-project.ts'
import type { ProjectReport } from '../../src/project/project-report.ts'
import { trustPlaceOf } from '../../src/project/setup/read-setup.ts'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

const reviewer = { '.claude/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews code\n---\nReview.' }
const wrongVariable = { TROUPE_LIMITS_MAX_TOOL_TURNS: '0' }
const nonsense = { '.ai-agent.json': '{ "nonsense": 1 }' }
const problemsIn = (stdout: string): readonly string[] => JSON.parse(stdout).error.problems.map(({ place }: { place: string }) => place)

const host = (path: string, more: { readonly [name: string]: string } = {}) => ({
  env: { HOME: `${path}/.home`, XDG_STATE_HOME: `${path}/.state`, ...more },
})

/** What `validate`, `doctor` and the others find in a folder. */
async function projectIn(path: string, variables: { readonly [name: string]: string } = {}): Promise<ProjectReport> {
  vi.stubEnv('HOME', `${path}/.home`)
  try {
    return await loadProject({ cwd: path, ...host(path, variables), importsModules: false })
  } finally {
    vi.unstubAllEnvs()
  }
}

const placesOf = ({ error }: ProjectReport): readonly string[] => (error?.problems ?? []).map(({ place }) => place)

async function trust(path: string, ...files: readonly string[]): Promise<void> {
  const states = await readFileStates(
    nodeConfigFileSystem,
    files.map((file) => join(path, file)),
  )
  await trustFiles(trustPlaceOf(host(path)), states, { by: 'person', at: 0 })
}

describe('where the configuration or a variable is wrong', () => {
  test.each([
    ['the configuration', nonsense, {}],
    ['a variable', {}, wrongVariable],
  ])('%s: what a person has trusted is not called untrusted', async (_name, files, variables) => {
    const { path, write } = folder(reviewer)
    await trust(path, '.claude/agents/reviewer.md')
    write(files)
    const { error, diagnostics, registry } = await projectIn(path, variables)
    expect(error?.problems).toHaveLength(1)
    expect([diagnostics, registry.untrusted]).toEqual([[], []])
  })

  test('both are reported, with the problems of the agents', async () => {
    const { path } = folder({ 'a.ai': child('limts: 1'), ...nonsense })
    const all = ['TROUPE_LIMITS_MAX_TOOL_TURNS', `${path}/.ai-agent.json:1:3`, 'a.ai:6:1']
    expect(placesOf(await projectIn(path, wrongVariable))).toEqual(all)
    const [run, shown] = await Promise.all(
      [
        ['run', 'a.ai', 'Hi'],
        ['config', 'show'],
      ].map(async (args) => problemsIn((await troupe(path, [...args, '--json'], wrongVariable)).stdout)),
    )
    expect([run, shown]).toEqual([all, all.slice(0, 2)])
  })

  test('a variable that is wrong does not hide what the right ones say', async () => {
    const { path } = folder({ 'a.ai': child() })
    const { registry } = await projectIn(path, { ...wrongVariable, TROUPE_MODELS: 'rehearsal' })
    expect(registry.readable[0]?.agent.models).toEqual(['rehearsal'])
  })

  test('an agent that is trusted may still name a schema elsewhere', async () => {
    const outside = folder({ 'out.json': '{ "type": "object" }' })
    const { path, write } = folder({ 'a.ai': child(`input: { schemaRef: ${join(outside.path, 'out.json')} }`), '.ai-agent.json': {} })
    await trust(path, 'a.ai')
    write({ '.home/.ai-agent/.ai-agent.json': '{ "nonsense": 1 }' })
    expect(placesOf(await projectIn(path))).toEqual([`${path}/.home/.ai-agent/.ai-agent.json:1:3`])
  })

  test('a damaged trust list is reported with the rest', async () => {
    const { path } = folder({ '.state/troupe/trust.json': '{', ...nonsense, 'a.ai': child('limts: 1') })
    expect(placesOf(await projectIn(path))).toEqual([`${path}/.state/troupe/trust.json`, `${path}/.ai-agent.json:1:3`, 'a.ai:6:1'])
  })
})

describe('--trust', () => {
  test('reports every problem once, and trusts nothing if nothing can run', async () => {
    const { path } = folder({ ...reviewer, ...nonsense })
    const { code, stdout } = await troupe(path, ['run', '.claude/agents/reviewer.md', 'Hi', '--trust', '--json'])
    expect([code, problemsIn(stdout)]).toEqual([2, [`${path}/.ai-agent.json:1:3`]])
    expect(existsSync(join(path, '.state/troupe/trust.json'))).toBe(false)
  })

  test('applies to files that can only be read with it', async () => {
    const outside = folder({ 'helper.ai': child().replace('a/b', 'rehearsal') })
    const { path } = folder({
      'a.ai': child('agents: [helper]').replace('a/b', 'rehearsal'),
      '.ai-agent.json': { agents: [join(outside.path, 'helper.ai')] },
    })
    const run = (...more: readonly string[]) => troupe(path, ['run', 'a.ai', 'Hi', ...more])
    expect((await run()).code).toBe(2)
    expect((await run('--trust')).code).toBe(0)
    // Once and for all.
    expect((await run()).code).toBe(0)
  })
})
