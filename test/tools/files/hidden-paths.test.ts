import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace } from '../../../src/tools/workspace/index.ts'
import { fileTools } from './file-tools.ts'
import { scene, tempFolder, toolContext } from './scene.ts'

/** A workspace that is a home: what this program is allowed to do lies in it. */
function home() {
  const base = tempFolder()
  const root = join(base, 'home')
  mkdirSync(join(root, '.local/state/troupe'), { recursive: true })
  writeFileSync(join(root, '.local/state/troupe/trust.json'), 'trusted\n')
  writeFileSync(join(root, 'notes.txt'), 'trusted\n')
  symlinkSync('.local/state/troupe', join(root, 'way'))
  symlinkSync('home', join(base, 'link'))
  // One of them is given by another way, and the other is not there yet.
  const hidden = [join(base, 'link/.local/state/troupe'), join(root, '.ai-agent')]
  const tools = fileTools(openWorkspace(root, { hidden }))
  return {
    root,
    async call(name: string, input: { readonly [key: string]: string }) {
      const tool = tools.find((each) => each.name === name) ?? expect.unreachable()
      return { wish: await tool.approval?.(input), output: await tool.execute(input, toolContext()) }
    },
  }
}

const patch = (path: string): string => ['*** Begin Patch', `*** Add File: ${path}`, '+x', '*** End Patch'].join('\n')

describe('what is hidden', () => {
  const { root, call } = home()
  const folder = '.local/state/troupe'

  it.each([
    ['write_file', { path: `${folder}/grants.json`, content: '{}' }],
    ['write_file', { path: `x/../${folder}/grants.json`, content: '{}' }],
    ['write_file', { path: `${root}/.ai-agent/.ai-agent.json`, content: '{}' }],
    ['write_file', { path: '.AI-Agent/.ai-agent.json', content: '{}' }],
    ['edit_file', { path: `${folder}/trust.json`, old: 'trusted', new: 'all' }],
    ['apply_patch', { patch: patch(`${folder}/grants.json`) }],
    ['read_file', { path: `${folder}/trust.json` }],
    ['read_file', { path: 'way/trust.json' }],
    ['list_files', { path: folder }],
    ['list_files', { path: 'way' }],
    ['search_files', { pattern: 'trusted', path: folder }],
    ['search_files', { pattern: 'trusted', path: 'way/trust.json' }],
  ])('is refused: %s %o', async (name, input) => {
    const { wish, output } = await call(name, input)
    expect([wish?.asks ?? false, output]).toMatchObject([
      false,
      {
        ok: false,
        error: { class: 'denied', message: expect.stringContaining('No tool may read or write it'), remedy: expect.any(String) },
      },
    ])
  })

  it('is skipped in the search for a missing file', async () => {
    const { output } = await call('read_file', { path: 'nope.md' })
    expect(output).toMatchObject({ ok: false, error: { class: 'invalid_input', message: 'nope.md does not exist.' } })
    expect(JSON.stringify(output)).not.toContain('.ai-agent')
    const { output: elsewhere } = await call('read_file', { path: 'trust.json' })
    expect(JSON.stringify(elsewhere)).not.toContain('state/troupe')
  })

  it('is in no list and in no search of what is around it', async () => {
    const { output: joinNames } = await call('list_files', { path: '.local' })
    expect(joinNames).toMatchObject({ content: '1 entry in .local, 2 levels deep.\n.local/state/' })
    const { output: found } = await call('search_files', { pattern: 'trusted' })
    expect(found).toMatchObject({ content: '1 hit for "trusted" in 1 file.\nnotes.txt\n1: trusted' })
  })
})

it('files with keys are refused anywhere, whatever is hidden', async () => {
  const there = scene({ 'a/.ai-agent.env': 'KEY=1\n', 'a/b.txt': 'KEY=2\n' })
  symlinkSync('.ai-agent.env', join(there.root, 'a/plain.txt'))
  for (const path of ['a/.ai-agent.env', 'a/.AI-AGENT.ENV', 'a/plain.txt'])
    expect(await there.fail('read_file', { path })).toMatch(/^denied: .*contains keys.*ask the user/)
  expect(await there.fail('write_file', { path: '.ai-agent.env', content: 'KEY=3' })).toMatch(/^denied: /)
  expect(await there.say('search_files', { pattern: 'KEY' })).toBe('1 hit for "KEY" in 1 file.\na/b.txt\n1: KEY=2')
})

it('a guarded file is protected wherever it is: no folder that was granted covers it', async () => {
  const there = scene({ 'tools/guard.sh': '' })
  const workspace = openWorkspace(there.root, { guarded: [join(there.root, 'tools/guard.sh')] })
  const write = fileTools(workspace).find(({ name }) => name === 'write_file')
  const keys = async (path: string) => (await write?.approval?.({ path, content: '' }))?.keys.map(({ key }) => key)
  expect(await keys('tools/guard.sh')).toEqual([`path:${there.root}/tools/guard.sh`, `path:protected ${there.root}/tools/guard.sh`])
  expect(await keys('tools/other.sh')).toEqual([`path:${there.root}/tools/other.sh`])
})
