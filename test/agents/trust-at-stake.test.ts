import { expect, test } from 'vitest'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

const file = '.claude/agents/a.md'
const agent = (settings: string): string => `---\nname: a\ndescription: A\n${settings}---\nDo.\n`

test.each(['tools: Read, Grep\n', 'tools: Read, Bash\ndisallowedTools: Bash\n'])(
  'a file that would have no more with trust waits for none: %j',
  async (settings) => {
    const { load } = folder({ [file]: agent(settings) })
    const registry = await load(file)
    expect([registry.untrusted, registry.diagnostics.filter(({ code }) => code === 'agent_untrusted')]).toEqual([[], []])
  },
)

test('a model that is not there is not what trust in an agent would bring', async () => {
  const { path } = folder({ [file]: agent('model: github-copilot/gpt-5\n') })
  const { code, stderr } = await troupe(path, ['run', file, 'Hi'])
  expect([code, stderr]).toEqual([3, expect.not.stringContaining('Untrusted files may be')])
})
