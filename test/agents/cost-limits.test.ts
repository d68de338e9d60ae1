import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

const limited = '---\ndescription: B\nusage: x\nmodels: rehearsal\nlimits: { maxCostUsd: 1 }\n'
const kid = '---\ndescription: K\nusage: x\nmodels: lab/x\noutput: { format: text }\n---\nK\n'
const env = { LAB_BASE_URL: 'http://127.0.0.1:9/v1' }

describe('a cost budget and a model without a price', () => {
  const files = { 'boss.ai': `${limited}agents: [./kid.ai]\n---\nB\n`, 'kid.ai': kid }
  const told = '`boss` (boss.ai) has a cost budget, but lab/x has no price'

  test.each([[['validate']], [['run', 'boss.ai', 'Hi', '--dry-run']], [['run', 'boss.ai', 'Hi']]])(
    'are refused for the whole team: %j',
    async (args) => {
      const { path } = folder(files)
      const { code, stderr } = await troupe(path, args, env)
      expect([code, stderr]).toEqual([2, expect.stringContaining(told)])
    },
  )

  test('one that is allowed by name, or has a price, is right', async () => {
    const { path } = folder(files)
    const own = (settings: object): string => folder({ '.ai-agent/.ai-agent.json': settings }).path
    for (const settings of [{ unpriced: ['lab/x'] }, { pricing: { 'lab/x': { input: 1, output: 2 } } }])
      expect(await troupe(path, ['validate'], { ...env, HOME: own(settings) })).toMatchObject({ code: 0 })
  })
})

test('a configuration that is named and is not there is refused by agents list, too', async () => {
  const { path } = folder({ 'kid.ai': kid })
  expect(await troupe(path, ['agents', 'list', '--config', 'nope.json'])).toMatchObject({ code: 2, stdout: '' })
})
