import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Ended, troupe } from './command.ts'
import { folder } from './folder.ts'

// Trust that is given or taken back between two turns of one run, from the outside.

const file = '.claude/agents/all.md'
const agent = (more = ''): string => `---\nname: all\ndescription: All\n${more}---\nDo.\n`
const script = {
  steps: [
    { text: 'first' },
    { calls: [{ tool: 'write_file', input: { path: 'two.txt', content: 'x\n' } }] },
    { text: 'second' },
    { text: 'third' },
  ],
}

interface Project {
  readonly path: string
  at(...args: readonly string[]): Promise<Ended>
  write(files: { readonly [name: string]: string }): void
  begin(): Promise<string>
  goOn(id: string, ...more: readonly string[]): Promise<Ended>
}

function project(): Project {
  const { path, write } = folder({ [file]: agent(), 'a.yaml': JSON.stringify(script), '.git/HEAD': 'ref: refs/heads/main\n' })
  const at = (...args: readonly string[]): Promise<Ended> => troupe(path, args)
  const model = ['--model', `script/${join(path, 'a.yaml')}`]
  return {
    path,
    at,
    write,
    async begin() {
      const { stdout } = await at('run', file, 'Go', '--json', ...model)
      return JSON.parse(stdout).sessionId
    },
    goOn: (id, ...more) => at('run', file, 'More', '--resume', id, '--allow', 'write_file', ...model, ...more),
  }
}

const withheld = `${file} is not trusted, unlike when this session began: `

describe('a file that was trusted when its run began', () => {
  test('and is no longer: tools that need trust are refused, without a report that the agent has changed', async () => {
    const { path, at, begin, goOn } = project()
    await at('trust', file)
    const id = await begin()
    await at('trust', '--revoke', file)
    const { stderr, code } = await goOn(id)
    expect([code, existsSync(join(path, 'two.txt'))]).toEqual([0, false])
    expect(stderr).toContain(withheld)
    expect(stderr).toMatch(/write_file[^\n]* are refused now\./)
    expect(stderr).toContain(`troupe trust ${file}`)
    expect(stderr).not.toContain('agent_changed')
  })

  test('and is trusted again: it has its tools again', async () => {
    const { path, at, begin, goOn } = project()
    await at('trust', file)
    const id = await begin()
    await at('trust', '--revoke', file)
    await at('trust', file)
    const { stderr } = await goOn(id)
    expect(existsSync(join(path, 'two.txt'))).toBe(true)
    expect(stderr).not.toMatch(/agent_changed|tools_withheld/)
  })

  test('and was edited to need no trust: its old tools are still refused, and the change is reported', async () => {
    const { path, at, write, begin, goOn } = project()
    await at('trust', file)
    const id = await begin()
    write({ [file]: agent('tools: Read\n') })
    const { stderr } = await goOn(id)
    expect(existsSync(join(path, 'two.txt'))).toBe(false)
    expect(stderr).toContain(withheld)
    expect(stderr).toContain('agent_changed')
  })
})

test('a file that was trusted after its run began: the run keeps its tools, and that is reported', async () => {
  const { path, at, begin, goOn } = project()
  const id = await begin()
  await at('trust', file)
  const { stderr } = await goOn(id)
  expect(existsSync(join(path, 'two.txt'))).toBe(false)
  expect(stderr).toContain(`${file} has been trusted since this session began, which keeps the tools that it began with.`)
  expect(stderr).not.toContain('agent_changed')
})
