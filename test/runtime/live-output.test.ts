import { expect, it } from 'vitest'
import { bounded, collect, ofType, tool, world } from '../acceptance/support.ts'

const key = 'sk-verysecret-0123456789abcdef'

it.each([1, 2, 7, 29, 30, 31, 64])('a secret is hidden in live output, however it is cut: %d characters at a time', async (size) => {
  const said = `first ${key}\nthen ${key}${key} and sk-very`
  const talker = tool('talk', {
    execute: (_, { output, progress }) => {
      for (let at = 0; at < said.length; at += size) output(said.slice(at, at + size))
      progress(`with ${key}`)
      return 'done'
    },
  })
  const { runtime } = world({
    tools: [talker],
    config: { overlay: { DEPLOY_API_KEY: key } },
    steps: [{ calls: [{ tool: 'talk' }] }, { text: 'Done.' }],
  })
  const deltas = ofType(await bounded(collect(runtime.stream('go'))), 'interaction.item.delta')
  const shown = (kind: string): string => deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join('')
  const hidden = '[redacted:DEPLOY_API_KEY]'
  // What only begins like one is shown in the end.
  expect(shown('output')).toBe(`first ${hidden}\nthen ${hidden}${hidden} and sk-very`)
  expect(shown('progress')).toBe(`with ${hidden}`)
})
